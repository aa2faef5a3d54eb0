package redis

// dumpGrammar does not compare what DUMP says: elements are in another order
// here, and compressed otherwise. TestDumpsAreRestoredOnBothSides does.
var dumpGrammar = grammar{
	templates: `
RESTORE $key 0 $payload
RESTORE $key 0 $payload REPLACE
RESTORE $key $momentms $payload ABSTTL $restoreopt
RESTORE $key $millis $payload $restoreopt $restoreopt
`,
	choices: map[string][]string{
		"$payload": {
			"\x00\x05hello\n\x00cr\xdfve4 \n",
			"\x00\xc0\x0c\n\x00<*\xf8Q\\\x04\xbc\xd5",
			"\x12\x01\x02\x0f\x0f\x00\x00\x00\x03\x00\x81a\x02\x81b\x02\x03\x01\xff\n\x00\xdc\xa1\xe6}P\x05PH",
			"\x10\r\r\x00\x00\x00\x02\x00\x81f\x02\x81v\x02\xff\n\x00 \xf1=D#T\b\x9d",
			"\x11\x0f\x0f\x00\x00\x00\x02\x00\x81a\x02\x831.5\x04\xff\n\x00\b\x0cn\x19\x80\x8e}\x98",
			"\x0b\x0e\x02\x00\x00\x00\x03\x00\x00\x00\x01\x00\x02\x00\x03\x00\n\x00\xa5\x02\\\xe2mnM\x1b",
			"\x02\x01\x01a\n\x00b\x96\xe9~D\xd2\x1am",
			"bad",
		},
		"$restoreopt": {"REPLACE", "REPLACE", "ABSTTL", "IDLETIME 1", "FREQ 1", "IDLETIME", "FOO"},
	},
	ownReads: `
DUMP $key
DUMP $key
`,
}
