import { onScreenOnly } from '../../api/resolution';
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
