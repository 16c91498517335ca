const BYTES = BigUint64Array.BYTES_PER_ELEMENT;

/** 64-bit fingerprints as base64, with 8 bytes each. */
export function fingerprintsToText(fingerprints: ReadonlySet<bigint>): string {
	return Buffer.from(BigUint64Array.from(fingerprints).buffer).toString('base64');
}

/** Restores a set from {@link fingerprintsToText}. */
export function fingerprintsFromText(text: string): Set<bigint> {
	const bytes = Buffer.from(text, 'base64');
	const fingerprints = new Set<bigint>();
	for (let offset = 0; offset + BYTES <= bytes.length; offset += BYTES) {
		fingerprints.add(bytes.readBigUInt64LE(offset));
	}
	return fingerprints;
}
