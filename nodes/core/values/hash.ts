import { createHash, timingSafeEqual } from 'crypto';
import { isJsonObject } from './json';

const sha256 = (text: string) => createHash('sha256').update(text);

/** A stable hash of a value. The order of fields doesn't matter. */
export function fingerprint(value: unknown): string {
	return sha256(canonical(value)).digest('hex');
}

/** A shorter hash, for values that are stored many times. */
export function shortFingerprint(value: unknown, characters: number): string {
	return sha256(canonical(value)).digest('base64url').slice(0, characters);
}

/** 72 bits. */
const SHORT = 12;

/** A short hash, for keys. */
export function hashOf(value: unknown): string {
	return shortFingerprint(value, SHORT);
}

/** A hash of 64 bits, for large sets. */
export function fingerprint64(text: string): bigint {
	return sha256(text).digest().readBigUInt64LE();
}

function canonical(value: unknown): string {
	// The replacer is slow, and texts don't need it.
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

/** Compares a secret in constant time. */
export function isSecret(given: unknown, wanted: string): boolean {
	return (
		typeof given === 'string' && timingSafeEqual(sha256(given).digest(), sha256(wanted).digest())
	);
}
