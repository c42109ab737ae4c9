"""The synthetic study: seven pictures in the plane, as 32 bits each."""
