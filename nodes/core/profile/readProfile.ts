import { ZodIssueCode, ZodParsedType, type ZodErrorMap, type ZodIssue } from 'zod';
import { InvalidInput } from '../service/errors';
import { onScreenOnly } from '../service/resolution';
import { type JsonValue, parseJson } from '../values/json';
import { withoutInvisible } from '../values/text';
import { named, quoted } from '../values/values';
import { type Profile, profileSchema } from './schema';

export const SERVICE_PROFILE = 'Service Profile';

/** Faults to list in a message, and names in a fault. */
const MAX_FAULTS = 10;

/**
 * Reads a profile as it's pasted from an email, a chat, or a document. An empty one has no part.
 *
 * @param given JSON, or the same as an object from an expression
 * @param hideSecret hides a secret in that list
 * @throws InvalidInput that lists everything to correct
 */
export function readProfile(
	given: unknown,
	hideSecret: (text: string) => string = (one) => one,
): Profile {
	const text = typeof given === 'string' ? given : JSON.stringify(given);
	if (text.trim() === '') return {};
	const json = jsonIn(text);
	if (json === undefined) throw notJson();
	const { success, data, error } = profileSchema.safeParse(json, { errorMap });
	if (success) return data;
	const faults = error.issues;
	const shown = hideSecret(faults.slice(0, MAX_FAULTS).map(faultOf).join('; '));
	const more = faults.length > MAX_FAULTS ? `; and ${faults.length - MAX_FAULTS} more` : '';
	throw new InvalidInput(
		`'${SERVICE_PROFILE}' in the credential isn't complete and correct`,
		onScreenOnly(`Correct it, or send this list to your service provider: ${shown}${more}.`),
	);
}

/** Without what surrounds the outermost curly brackets, such as a code fence. Undefined if it isn't JSON. */
function jsonIn(text: string): JsonValue | undefined {
	const written = withoutInvisible(text);
	const json = written.slice(written.indexOf('{'), written.lastIndexOf('}') + 1);
	const forms = [json, json.replace(/[“”„«»]/g, '"')];
	return forms.map((one) => parseJson(withPlainSpace(one))).find((one) => one !== undefined);
}

/** Replaces white space that JSON doesn't allow, such as non-breaking spaces from email. */
function withPlainSpace(text: string): string {
	// A string without a closing quote extends to the end of the text, so the search stays linear.
	return text.replace(/"[^"\\]*(?:\\[^][^"\\]*)*"?|\s/g, (part) => (/^\s/.test(part) ? ' ' : part));
}

const errorMap: ZodErrorMap = (issue, { defaultError }) => {
	switch (issue.code) {
		case ZodIssueCode.unrecognized_keys:
			return { message: `has unknown names: ${named(issue.keys, quoted, MAX_FAULTS)}` };
		case ZodIssueCode.invalid_enum_value:
			return { message: `must be ${issue.options.map((one) => `"${one}"`).join(' or ')}` };
		case ZodIssueCode.too_small:
			return { message: "is empty. Leave it out if your service doesn't have it" };
		case ZodIssueCode.invalid_type:
			if (issue.received === ZodParsedType.null)
				return { message: "is null. Leave it out if your service doesn't have it" };
			return {
				message:
					issue.expected === 'object'
						? 'must be an object in curly brackets'
						: 'must be text in quotation marks',
			};
		default:
			return { message: defaultError };
	}
};

/** Such as `"body.entry.phone" in "dnd.add" must be …`. */
function faultOf({ path: [part, ...rest], message }: ZodIssue): string {
	if (part === undefined) return `the profile ${message}`;
	return `${rest.length > 0 ? `${quoted(rest.join('.'))} in ` : ''}"${part}" ${message}`;
}

function notJson(): InvalidInput {
	return new InvalidInput(
		`'${SERVICE_PROFILE}' in the credential isn't valid JSON`,
		onScreenOnly(
			'Paste one block, from its first curly bracket to its last. If your service provider sent several, put their parts into one pair of curly brackets. The block needs quotation marks (") around names and texts, a comma between entries, and no comma before a closing bracket.',
		),
	);
}
