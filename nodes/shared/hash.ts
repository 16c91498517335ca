import { createHash, timingSafeEqual } from 'crypto';
import { isJsonObject } from './json';

const sha256 = (text: string) => createHash('sha256').update(text);

/** A name for a value, the same on every machine and in every run, however the fields of its objects are ordered. */
export function fingerprint(value: unknown): string {
	return sha256(canonical(value)).digest('hex');
}

/** A name for bytes. */
export function fingerprintOfBytes(bytes: Uint8Array): string {
	return createHash('sha256').update(bytes).digest('base64url');
}

/** The same in fewer characters, for what is stored many times. */
export function shortFingerprint(value: unknown, characters: number): string {
	return sha256(canonical(value)).digest('base64url').slice(0, characters);
}

function canonical(value: unknown): string {
	// The replacer takes most of the time, and texts have no fields.
	if (Array.isArray(value) && value.every((one) => typeof one === 'string')) {
		return JSON.stringify(value);
	}
	return JSON.stringify(value, (_key, inner: unknown) =>
		isJsonObject(inner) ? Object.fromEntries(Object.entries(inner).sort(byName)) : inner,
	);
}

function byName([a]: [string, unknown], [b]: [string, unknown]): number {
	return a < b ? -1 : Number(a > b);
}

/** Takes the same time for every wrong secret, whatever its length and however much of it is right. */
export function isSecret(given: unknown, wanted: string): boolean {
	return (
		typeof given === 'string' && timingSafeEqual(sha256(given).digest(), sha256(wanted).digest())
	);
}
