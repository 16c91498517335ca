import { InvalidInput } from './errors';
import { LIMITS } from './limits';

/**
 * The API token without the white space that comes along when it is pasted.
 *
 * @throws InvalidInput when it is not 16 characters long (Authentication 2)
 */
export function parseApiToken(text: string): string {
	const token = text.trim();
	if (token.length !== LIMITS.apiTokenCharacters || /\s/.test(token)) {
		throw new InvalidInput(
			`The API token has ${token.length} characters, but a token has ${LIMITS.apiTokenCharacters}`,
			'Copy the whole token from the settings of your dashboard into the credential.',
		);
	}
	return token;
}
