import { explained, type ExplainedError, InvalidInput } from '../../api/errors';
import { onScreenOnly } from '../../api/modelAdvice';
import { isSecret } from '../../hash';
import type { Fields } from '../forms/fields';

/**
 * The secret that a request to this trigger must have.
 *
 * @returns undefined if the field is empty, which means that no secret is wanted; an expression always wants one
 * @throws InvalidInput if a secret is wanted and the field gives none
 */
export function readSecret(form: Fields, name: string): string | undefined {
	return form.secret(name, onScreenOnly('Correct the secret. No request is accepted without it.'));
}

/** The same where a secret is always wanted. */
export function requireSecret(form: Fields, name: string): string {
	const secret = readSecret(form, name);
	if (secret !== undefined) return secret;
	throw new InvalidInput(
		"'Secret' is empty",
		onScreenOnly('Enter a secret. No request is accepted without it.'),
	);
}

/** `unusable`: nobody can have the secret, because its field gives none. */
export type SecretCheck = { kind: 'passed' | 'wrong' } | { kind: 'unusable'; why: ExplainedError };

/** @param read as above */
export function checkSecret(given: unknown, read: () => string | undefined): SecretCheck {
	try {
		const wanted = read();
		const text = typeof given === 'string' ? given.trim() : undefined;
		return { kind: wanted === undefined || isSecret(text, wanted) ? 'passed' : 'wrong' };
	} catch (error) {
		return { kind: 'unusable', why: explained(error) };
	}
}
