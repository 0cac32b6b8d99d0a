//! Random events come back as they went in.

use tslp_migrations::{decode, encode, kind_of};

use crate::generate::Generator;

#[test]
fn random_events_round_trip() {
    let mut generator = Generator::new(1);
    for round in 0..5_000 {
        let event = generator.event();
        let encoded = encode(&event).unwrap();
        assert_eq!(encoded.kind, kind_of(&event));
        let name = encoded.kind.rsplit_once(".v").unwrap().0;
        assert_eq!(name, event.name());
        assert_eq!(
            decode(encoded.kind, &encoded.payload).unwrap(),
            event,
            "round {round}"
        );
    }
}
