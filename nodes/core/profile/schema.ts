import difference from 'lodash/difference';
import { z, ZodIssueCode, ZodParsedType, type ZodErrorMap, type ZodIssue } from 'zod';
import { InvalidInput } from '../service/errors';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../values/json';
import { withoutInvisible } from '../values/text';
import { joinedWithAnd, quoted } from '../values/values';
import {
	entriesIn,
	hasUnclearPlaceholder,
	placeholdersIn,
	POSITIONS,
	type TemplateEntry,
} from './template';

export const SERVICE_PROFILE = 'Service Profile';

const FILTERS = ['status', 'agent', 'campaign', 'from', 'to', 'phone'] as const;

/** The placeholders of each request: those without which it isn't this request, and others. */
export const PLACEHOLDERS = {
	calls: { must: [], may: [...FILTERS, 'pageSize', ...POSITIONS] },
	'dnd.add': { must: ['agent', 'phone'], may: ['reason'] },
	'dnd.list': { must: ['agent', 'page'], may: ['phone', 'pageSize'] },
	'dnd.remove': { must: ['agent', 'phone'], may: [] },
	'chat.session': { must: ['agent'], may: ['person'] },
	'chat.inbound': { must: ['message'], may: ['agent', 'session'] },
	'chat.async': { must: ['message'], may: ['agent', 'session'] },
} as const;

export type RequestName = keyof typeof PLACEHOLDERS;

/** Documented values, which the nodes add. */
const DOCUMENTED: { [name in RequestName]?: string } = {
	calls: 'campaign_upload_id',
	'chat.async': 'idempotency_key',
};

/** A lodash path, or one of these instead. */
function path(...others: string[]) {
	const isPath = (text: string) =>
		others.includes(text) ||
		!(/[{}]|^[.$]|\.$|\.\./.test(text) || text.lastIndexOf('[') > text.lastIndexOf(']'));
	const forms = ['a path such as data.calls', ...others.map((one) => `"${one}"`)];
	return z
		.string()
		.trim()
		.min(1)
		.refine(isPath, `must be ${forms.join(' or ')}`);
}

const list = path('{response}');
/** Where a value of an entry is. The key is that of a list that is an object. */
const inEntry = path('{entry}', '{key}');
const first = z.number().int().nonnegative();
const pages = z.union([
	z.literal('none'),
	z.object({ page: first }).strict(),
	z.object({ offset: first }).strict(),
	z.object({ cursor: path() }).strict(),
	z.object({ link: path() }).strict(),
]);
const next = z.custom<z.infer<typeof pages>>(
	(given) => pages.safeParse(given).success,
	'must be { "page": 1 } or { "offset": 0 } with the first one, { "cursor": path } or { "link": path } with a path in the response, or "none" if all calls are in one response',
);
type Next = z.infer<typeof next>;

const queryValue = z.union([z.string(), z.number(), z.boolean()]);
export const querySchema = z.record(
	z.union([queryValue, z.array(queryValue)], {
		errorMap: () => ({
			message:
				'must be text, a number, or a list of these. For nested parameters, write names such as "of[name]"',
		}),
	}),
);
const body = z.custom<JsonObject>(isJsonObject, 'must be an object in curly brackets');

const both = z.object({ query: querySchema, body }).partial().strict();

export const profileSchema = z
	.object({
		agents: z
			.object({ list, id: inEntry, name: inEntry })
			.partial()
			.strict()
			.refine((part) => part.id === undefined || part.list !== undefined, {
				message: 'is missing, and "id" needs it',
				path: ['list'],
			}),
		calls: z
			.object({
				query: querySchema,
				list,
				next,
				key: z.string().trim().min(1),
				entry: path(),
				total: path(),
				dates: z.enum(['date', 'dateTime']),
			})
			.partial()
			.strict()
			.refine((part) => (part.next === undefined) === (part.list === undefined), {
				message: 'must have "list" and "next", because each needs the other',
			})
			.superRefine(isRequest('calls')),
		'dnd.add': both.superRefine(isRequest('dnd.add')),
		'dnd.list': z
			.object({ query: querySchema })
			.partial()
			.strict()
			.superRefine(isRequest('dnd.list')),
		'dnd.remove': both.superRefine(isRequest('dnd.remove')),
		'chat.session': both
			.extend({ session: path() })
			.partial()
			.superRefine(isRequest('chat.session')),
		'chat.inbound': both.superRefine(isRequest('chat.inbound')),
		'chat.async': both.superRefine(isRequest('chat.async')),
	})
	.strict()
	.partial();

export type Profile = z.infer<typeof profileSchema>;
export type PartName = keyof Profile;
export const PARTS = profileSchema.keyof().options;
export type Part<Name extends PartName> = NonNullable<Profile[Name]>;

/** What a request shows: values in its query and its body. */
export type Template = { query?: JsonObject | undefined; body?: JsonObject | undefined };

/** The placeholder of a page. Undefined if there is only one, or a link leads to it. */
export function positionOf(given: Next = 'none'): (typeof POSITIONS)[number] | undefined {
	if (given === 'none') return undefined;
	return POSITIONS.find((one) => one in given);
}

/** Checks the placeholders of a request, up to the first fault. */
function isRequest(name: RequestName) {
	const { must }: { must: readonly string[] } = PLACEHOLDERS[name];
	return (request: Template & { next?: Next | undefined }, { addIssue }: z.RefinementCtx): void => {
		const { query: inQuery = {}, body: inBody = {}, next: pages } = request;
		const template = { query: inQuery, body: inBody };
		const position = positionOf(pages);
		for (const entry of entriesIn(template)) {
			const message = entryFault(name, entry, position);
			if (message === undefined) continue;
			addIssue({ code: 'custom', path: entry.path, message });
			return;
		}
		const needed = position === undefined ? must : [...must, position];
		const shown = placeholdersIn(template).map((one) => one.name);
		const missing = difference(needed, shown);
		if (missing.length === 0) return;
		const message = `needs ${listed(missing)} in place of the values of your example`;
		addIssue({ code: 'custom', message });
	};
}

/** What's wrong with an entry of a request. Undefined if nothing is. */
function entryFault(
	name: RequestName,
	entry: TemplateEntry,
	position: ReturnType<typeof positionOf>,
): string | undefined {
	const { must, may }: { must: readonly string[]; may: readonly string[] } = PLACEHOLDERS[name];
	const known = [...must, ...may];
	const text = typeof entry.value === 'string' ? entry.value : '';
	const placeholders = placeholdersIn(text);
	const names = placeholders.map((one) => one.name);
	const [unknown] = difference(names, known);
	const unclear =
		name === 'calls' && POSITIONS.find((one) => one !== position && names.includes(one));
	if (placeholdersIn(entry.name).length > 0)
		return 'must have its placeholder as the value, not as the name';
	if (hasUnclearPlaceholder(text))
		return `must have placeholders such as {${known[0] ?? ''}}, in single curly brackets`;
	if (unknown !== undefined) return `has {${unknown}}, but can only have ${listed(known)}`;
	if (unclear) return `has {${unclear}}, so "next" must have "${unclear}"`;
	// With one of them missing, the others would be left out, too.
	if (names.length > 1 && placeholders.some((one) => one.isOptional))
		return 'has several placeholders, of which one can be missing. Give each its own text';
	const isDocumented = entry.name === DOCUMENTED[name] && entry.path.length === 2;
	return isDocumented ? 'must be left out: the nodes add it' : undefined;
}

function listed(names: readonly string[]): string {
	return joinedWithAnd(names.map((name) => `{${name}}`));
}

// How a profile is read.

/**
 * Reads a profile as it's pasted from an email, a chat, or a document. An empty one has no part.
 *
 * @param given JSON, or the same as an object from an expression
 * @param hideSecret hides a secret in the message
 * @throws InvalidInput with the first fault
 */
export function readProfile(
	given: unknown,
	hideSecret: (text: string) => string = (one) => one,
): Profile {
	const text = typeof given === 'string' ? given : JSON.stringify(given);
	if (text.trim() === '') return {};
	const json = jsonIn(text);
	if (json === undefined) throw notJson();
	const { data, error } = profileSchema.safeParse(json, { errorMap });
	const [fault] = error?.issues ?? [];
	if (fault === undefined) return data ?? {};
	throw new InvalidInput(
		`'${SERVICE_PROFILE}' in the credential isn't complete and correct`,
		`In n8n, correct it, or send this to your service provider: ${hideSecret(faultText(fault))}.`,
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
			return { message: `has the unknown name ${quoted(issue.keys[0])}` };
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
function faultText({ path: [part, ...rest], message }: ZodIssue): string {
	if (part === undefined) return `the profile ${message}`;
	return `${rest.length > 0 ? `${quoted(rest.join('.'))} in ` : ''}"${part}" ${message}`;
}

function notJson(): InvalidInput {
	return new InvalidInput(
		`'${SERVICE_PROFILE}' in the credential isn't valid JSON`,
		'In n8n, paste one block, from its first curly bracket to its last. If your service provider sent several, put their parts into one pair of curly brackets. The block needs quotation marks (") around names and texts, a comma between entries, and no comma before a closing bracket.',
	);
}
