import pick from 'lodash/pick';
import uniq from 'lodash/uniq';
import { isJsonObject, valuesIn, type JsonValue } from '../json';

const HIDDEN = '[hidden]';

/** Fields whose values give access to something (Recording, `ws_token`). */
const SECRET_FIELDS = new Set(['token', 'recording_url']);

/** Hiding shorter texts would hide plain words. */
const MIN_SECRET_LENGTH = 8;

/** Number of secrets of responses to remember. Tokens expire after five minutes. */
const MAX_SECRETS = 100;

/** Hides the API token and the secrets of earlier responses in texts of the service. */
export class Secrets {
	private given: readonly string[] = [];

	constructor(private readonly apiToken = '') {}

	/** Remembers the secrets of a response. */
	remember(body: JsonValue): void {
		this.given = uniq([...this.given, ...secretsIn(body)]).slice(-MAX_SECRETS);
	}

	/** @param bringsSecrets whether the text is a response that may return the same secrets again. Hides only the API token. */
	hide(text: string, bringsSecrets = false): string {
		return withoutSecrets(text, bringsSecrets ? [this.apiToken] : [this.apiToken, ...this.given]);
	}
}

/** A text, JSON or not, without these secrets: as they are, in JSON, or URL-encoded. Hides all of it if there are too many. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
	if (secrets.length > MAX_SECRETS + 1) return HIDDEN;
	let redacted = text;
	for (const secret of secrets) {
		if (secret.length < MIN_SECRET_LENGTH) continue;
		for (const form of formsOf(secret)) redacted = redacted.replaceAll(form, HIDDEN);
	}
	return redacted;
}

/** A response that contains secrets, without everything that may quote them. */
export function withoutQuotes(body: JsonValue): JsonValue {
	return isJsonObject(body) && secretsIn(body).length > 0 ? pick(body, 'success') : body;
}

/** The values of secret fields at any depth of a response. */
function secretsIn(body: JsonValue): string[] {
	return [...valuesIn(body)]
		.filter(isJsonObject)
		.flatMap((object) => Object.entries(object))
		.filter(([name]) => SECRET_FIELDS.has(name))
		.map(([, value]) => value)
		.filter((value) => typeof value === 'string');
}

function formsOf(secret: string): string[] {
	const inJson = JSON.stringify(secret).slice(1, -1);
	// Rails and Go escape these characters in JSON, which presigned URLs contain. PHP escapes slashes.
	const inSafeJson = inJson.replace(/[<>&]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`);
	// Half of a character pair has no URL-encoded form.
	const encoded = /\p{Surrogate}/u.test(secret) ? secret : encodeURIComponent(secret);
	const inLowerCase = encoded.replace(/%../g, (byte) => byte.toLowerCase());
	return uniq([secret, inJson, inSafeJson, inJson.replaceAll('/', '\\/'), encoded, inLowerCase]);
}
