import difference from 'lodash/difference';
import { z } from 'zod';
import { InvalidInput } from '../service/errors';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../values/json';
import { firstCharacters, withoutInvisible } from '../values/text';
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
const request = z.object({ query: querySchema, body }).partial().strict();

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
			}),
		'dnd.add': request,
		'dnd.list': z.object({ query: querySchema }).partial().strict(),
		'dnd.remove': request,
		'chat.session': request.extend({ session: path() }).partial(),
		'chat.inbound': request,
		'chat.async': request,
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

/** What's wrong with the placeholders of a request, such as `"body.why" in "dnd.add": can only …`. Undefined if nothing is. */
function requestFault(
	name: RequestName,
	{ query = {}, body = {}, next }: Template & { next?: Next | undefined },
): string | undefined {
	const { must, may }: { must: readonly string[]; may: readonly string[] } = PLACEHOLDERS[name];
	const template = { query, body };
	for (const entry of entriesIn(template)) {
		const fault = entryFault(entry, [...must, ...may], DOCUMENTED[name]);
		if (fault !== undefined) return faultText([name, ...entry.path], fault);
	}
	const position = positionOf(next);
	const needed = position === undefined ? must : [...must, position];
	const shown = placeholdersIn(template).map((one) => one.name);
	// The first page would count as the whole list.
	if (next === 'none' && POSITIONS.some((one) => shown.includes(one)))
		return faultText([name, 'next'], 'is "none", but the query has a page, offset, or cursor');
	const missing = difference(needed, shown);
	if (missing.length === 0) return undefined;
	return faultText([name], `needs ${listed(missing)} in place of the values of your example`);
}

function entryFault(
	{ name, value, path: at }: TemplateEntry,
	known: readonly string[],
	documented?: string,
): string | undefined {
	const text = typeof value === 'string' ? value : '';
	const placeholders = placeholdersIn(text);
	const unknown = difference(
		placeholders.map((one) => one.name),
		known,
	);
	if (placeholdersIn(name).length > 0 || unknown.length > 0 || hasUnclearPlaceholder(text))
		return `can only have ${listed(known)}, in its value, and in single curly brackets`;
	// With one of them missing, the others would be left out, too.
	if (placeholders.length > 1 && placeholders.some((one) => one.isOptional))
		return 'has several placeholders, of which one can be missing. Give each its own text';
	return name === documented && at.length === 2 ? 'must be left out: the nodes add it' : undefined;
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
	const { data: profile = {}, error } = profileSchema.safeParse(json);
	const [issue] = error?.issues ?? [];
	const fault =
		issue === undefined ? faultOfRequests(profile) : faultText(issue.path, issue.message);
	if (fault === undefined) return profile;
	const shown = firstCharacters(hideSecret(fault), MAX_FAULT_CHARACTERS);
	throw new InvalidInput(
		`'${SERVICE_PROFILE}' in the credential isn't complete and correct`,
		`In n8n, correct it, or send this to your service provider: ${shown}.`,
	);
}

/** A fault may name everything in a wrong profile. */
const MAX_FAULT_CHARACTERS = 300;

function faultOfRequests(profile: Profile): string | undefined {
	for (const name of PARTS) {
		if (name === 'agents') continue;
		const shown = profile[name];
		const fault = shown && requestFault(name, shown);
		if (fault !== undefined) return fault;
	}
	return undefined;
}

/** Without what surrounds the outermost curly brackets, such as a code fence. Undefined if it isn't JSON. */
function jsonIn(text: string): JsonValue | undefined {
	// JSON allows only some white space, but an email has others.
	const written = withoutInvisible(text).replace(/\s/g, ' ');
	const json = written.slice(written.indexOf('{'), written.lastIndexOf('}') + 1);
	return parseJson(json) ?? parseJson(json.replace(/[“”„«»]/g, '"'));
}

/** Such as `"body.entry.phone" in "dnd.add": must be …`. */
function faultText([part, ...rest]: ReadonlyArray<string | number>, message: string): string {
	if (part === undefined) return `the profile: ${message}`;
	return `${rest.length > 0 ? `${quoted(rest.join('.'))} in ` : ''}"${part}": ${message}`;
}

function notJson(): InvalidInput {
	return new InvalidInput(
		`'${SERVICE_PROFILE}' in the credential isn't valid JSON`,
		'In n8n, paste one block, from its first curly bracket to its last. If your service provider sent several, put their parts into one pair of curly brackets. The block needs quotation marks (") around names and texts, a comma between entries, and no comma before a closing bracket.',
	);
}
