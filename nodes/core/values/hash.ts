import { hash, timingSafeEqual } from 'crypto';
import { isJsonObject } from './json';

/** A stable hash of a value. The order of fields doesn't matter. */
export function fingerprint(value: unknown): string {
	return hash('sha256', canonical(value), 'hex');
}

/** A short hash, for keys and for values that are stored many times. By default of 72 bits. */
export function hashOf(value: unknown, characters = 12): string {
	return hash('sha256', canonical(value), 'base64url').slice(0, characters);
}

function canonical(value: unknown): string {
	// The replacer is slow, and texts don't need it.
	const parts: readonly unknown[] = Array.isArray(value) ? value : [value];
	if (parts.every((one) => typeof one === 'string')) return JSON.stringify(value);
	return JSON.stringify(value, (_key, inner: unknown) =>
		isJsonObject(inner) ? Object.fromEntries(Object.entries(inner).sort(byName)) : inner,
	);
}

function byName([a]: [string, unknown], [b]: [string, unknown]): number {
	return a < b ? -1 : Number(a > b);
}

/** Compares a secret in constant time. */
export function isSecret(given: unknown, wanted: string): boolean {
	const digest = (text: string) => hash('sha256', text, 'buffer');
	return typeof given === 'string' && timingSafeEqual(digest(given), digest(wanted));
}
