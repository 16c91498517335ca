import { explained, type ExplainedError } from '../../api/errors';
import { onScreenOnly } from '../../api/resolution';
import { isSecret } from '../../hash';
import type { Fields } from '../forms/fields';

/**
 * The secret that a request to this trigger must have.
 *
 * @returns undefined if the field is empty, because then no secret is required. An expression always requires one.
 * @throws InvalidInput if a secret is required and the field returns none
 */
export function readSecret(form: Fields, name: string): string | undefined {
	return form.secret(name, onScreenOnly('Correct the secret. No request is accepted without it.'));
}

/** `unusable`: no request can have the secret, because its field returns none. */
export type SecretCheck = { kind: 'passed' | 'wrong' } | { kind: 'unusable'; why: ExplainedError };

/** @param read as above */
export function checkSecret(given: unknown, read: () => string | undefined): SecretCheck {
	try {
		const required = read();
		const text = typeof given === 'string' ? given.trim() : undefined;
		return { kind: required === undefined || isSecret(text, required) ? 'passed' : 'wrong' };
	} catch (error) {
		return { kind: 'unusable', why: explained(error) };
	}
}
