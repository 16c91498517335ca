/** Random *Service Profiles*, and a service that only understands the requests that one shows. */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import escapeRegExp from 'lodash/escapeRegExp';
import omit from 'lodash/omit';
import pick from 'lodash/pick';
import set from 'lodash/set';
import { randomDialect, type Dialect } from '../simulator';
import { LINK } from '../simulator/dialects/names';
import { profileOf } from '../simulator/dialects/profile';
import type { SimulatorOptions } from '../simulator/simulator';
import { isObject, type JsonObject } from '../simulator/json';

/** The operation of each request that a profile shows. */
const PARTS: { readonly [operationId: string]: string } = {
	listCalls: 'calls',
	addDndNumber: 'dnd.add',
	listDndNumbers: 'dnd.list',
	removeDndNumber: 'dnd.remove',
	createSession: 'chat.session',
	sendInbound: 'chat.inbound',
	sendInboundAsync: 'chat.async',
};
/** What the nodes add, because it's documented. */
const DOCUMENTED = ['campaign_upload_id', 'idempotency_key'];
const POSITIONS = ['page', 'offset', 'cursor'];
/** Without these, there is no list, or an operation of the table has no place for a value that it always sends. */
const KEPT = new Set([
	'dnd.list phone',
	'dnd.list page',
	'calls from',
	'chat.inbound session',
	'chat.inbound agent',
]);
const isKept = (part: string, name: string) =>
	KEPT.has(`${part.replace('async', 'inbound')} ${name}`);

export interface RandomProfile {
	dialect: Dialect;
	/** The profile, whose requests have random forms. */
	profile: { [part: string]: JsonObject };
	/** Whether to fill in a field whose value may be left out, or which the service needs. */
	fills: (part: string, name: string) => boolean;
}

const PLACEHOLDER = /\{(\w+)(\??)\}/;

/** The placeholders of a part, with what they're written as. */
export function placeholdersOf(part: JsonObject = {}): Map<string, { isNeeded: boolean }> {
	const written = JSON.stringify(pick(part, 'query', 'body'));
	const all = [...written.matchAll(new RegExp(PLACEHOLDER, 'g'))];
	const isNeeded = (name: string) =>
		!POSITIONS.includes(name) && all.some((one) => one[1] === name && one[2] === '');
	return new Map(all.map(([, name = '']) => [name, { isNeeded: isNeeded(name) }]));
}

/** Names that JSON, a query, and JavaScript write in unusual ways. */
const names = fc.oneof(
	fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 6 }),
	fc.constantFrom('__proto__', 'constructor', 'of[name]', 'a.b', '0', 'größe', '名', '&x=', '“q”'),
);
const plainTexts = fc.constantFrom('', 'id:', 'tel-', ' ', '%', '+', '"', '\\', '&', '中');
const constants = fc.oneof(
	fc.string({ unit: 'grapheme-ascii', maxLength: 6 }),
	fc.integer(),
	fc.boolean(),
);
const isPlain = (value: unknown) => !/[{}$]/.test(String(value));

interface Leaf {
	inBody: boolean;
	name: string;
	before: string;
	after: string;
	/** From the inside to the outside. */
	around: Array<{ in: 'object' | 'list'; name: string; beside: unknown[] }>;
	isTwice: boolean;
	isOptional: boolean;
	isLeftOut: boolean;
	isFilled: boolean;
}

const leaves = fc.record<Leaf>({
	inBody: fc.boolean(),
	name: names.filter(isPlain),
	before: fc.oneof({ weight: 3, arbitrary: fc.constant('') }, plainTexts),
	after: fc.oneof({ weight: 3, arbitrary: fc.constant('') }, plainTexts),
	around: fc.array(
		fc.record({
			in: fc.constantFrom('object', 'list'),
			name: names.filter(isPlain),
			beside: fc.array(fc.oneof(constants, fc.constant(null)).filter(isPlain), { maxLength: 2 }),
		}),
		{ maxLength: 3 },
	),
	isTwice: fc.boolean(),
	isOptional: fc.boolean(),
	isLeftOut: fc.boolean(),
	isFilled: fc.boolean(),
});

/** The form of each placeholder, in the order in which they come. */
export const randomProfiles = fc
	.record({
		seed: fc.nat(1_000_000),
		forms: fc.array(leaves, { minLength: 40, maxLength: 40 }),
		literals: fc.array(
			fc.tuple(names, constants).filter(([, value]) => isPlain(value)),
			{
				minLength: 8,
				maxLength: 8,
			},
		),
	})
	.map(({ seed, forms, literals }): RandomProfile => {
		const dialect = randomDialect(seed);
		const filledIn = new Set<string>();
		let count = 0;
		const profile = Object.fromEntries(
			Object.entries(profileOf(dialect)).map(([part, own]) => {
				if (part === 'agents') return [part, own];
				const query: JsonObject = {};
				const body: JsonObject = {};
				const hasBody = part !== 'calls' && part !== 'dnd.list';
				for (const [placeholder] of placeholdersOf(own)) {
					const form = forms[count++ % forms.length];
					if (form === undefined) throw new Error('There are no forms');
					const mayLack = JSON.stringify(own).includes(`{${placeholder}?}`);
					if (mayLack && form.isLeftOut && !isKept(part, placeholder)) continue;
					if (form.isFilled) filledIn.add(`${part} ${placeholder}`);
					const mark = mayLack && form.isOptional ? '?' : '';
					const text = `${form.before}{${placeholder}${mark}}${form.after}`;
					place(form.inBody && hasBody ? body : query, form, text, form.inBody && hasBody);
					if (form.isTwice) query[`${count}`] = `{${placeholder}${mark}}`;
				}
				const [name = '', value] = literals[count % literals.length] ?? [];
				if (isPlain(name)) query[`lit ${name}`] = value;
				if (hasBody) body[`lit ${name.replaceAll(/[{}$]/g, '')}`] = [{ a: value }, null, [], {}];
				return [part, { ...omit(own, 'query', 'body'), query, ...(hasBody && { body }) }];
			}),
		);
		return { dialect, profile, fills: (part, name) => filledIn.has(`${part} ${name}`) };
	});

/** Adds a text under a name that no other text has. */
function place(to: JsonObject, { name, around }: Leaf, text: string, isNested: boolean): void {
	const unique = `${name} ${Object.keys(to).length}`;
	let value: unknown = text;
	for (const one of isNested ? around : around.slice(0, 1)) {
		const beside = isNested ? one.beside : one.beside.filter((other) => other !== null);
		if (one.in === 'list') value = [...beside, value];
		else if (isNested) value = { [one.name]: value };
	}
	to[unique] = value;
}

/** What a service with this profile received. */
export interface Received {
	part: string;
	values: { [placeholder: string]: string };
}

/** Reads requests in the form of the profile for a simulator of the dialect, and throws for those in another form. */
export function readerOf(
	{ dialect, profile }: RandomProfile,
	received: Received[],
): NonNullable<SimulatorOptions['read']> {
	const own = profileOf(dialect);
	return (operationId, request) => {
		const part = PARTS[operationId] ?? '';
		const shown = profile[part];
		// A link has the query of the service itself.
		if (shown === undefined || LINK in request.query) return request;
		const body = isObject(request.body) ? request.body : {};
		const values: Received['values'] = {};
		for (const [name, template] of Object.entries(isObject(shown.query) ? shown.query : {}))
			readQuery(name, template, request.query[name], values);
		readBody(shown.body ?? {}, omit(body, DOCUMENTED), values, part);
		const known = [...Object.keys(shown.query ?? {}), ...DOCUMENTED];
		const unknown = Object.keys(request.query).filter((name) => !known.includes(name));
		if (unknown.length > 0) throw new Error(`${part}: unknown query ${unknown.join()}`);
		received.push({ part, values });
		return {
			...request,
			query: { ...inOwnForm(own[part]?.query, values), ...pick(request.query, DOCUMENTED) },
			...(request.body !== undefined && {
				body: { ...inOwnForm(own[part]?.body, values), ...pick(body, DOCUMENTED) },
			}),
			...(request.body === undefined &&
				own[part]?.body !== undefined && {
					body: inOwnForm(own[part].body, values),
				}),
		};
	};
}

/** The values at the places of the dialect, whose texts are only placeholders. */
function inOwnForm(template: unknown, values: Received['values']): Record<string, string> {
	const sent = {};
	const visit = (value: unknown, path: string[]) => {
		if (typeof value === 'object' && value !== null) {
			for (const [name, inner] of Object.entries(value)) visit(inner, [...path, name]);
			return;
		}
		const given = values[PLACEHOLDER.exec(String(value))?.[1] ?? ''];
		if (given !== undefined) set(sent, path, given);
	};
	visit(template ?? {}, []);
	return sent;
}

function readText(template: string, sent: string, values: Received['values']): void {
	const [before = '', name, , after = ''] = template.split(PLACEHOLDER);
	const found = new RegExp(`^${escapeRegExp(before)}([^]*)${escapeRegExp(after)}$`).exec(sent)?.[1];
	if (name === undefined ? sent !== template : found === undefined)
		throw new Error(`"${sent}" is not "${template}"`);
	if (name === undefined || found === undefined) return;
	if ((values[name] ?? found) !== found) throw new Error(`{${name}} has two values`);
	values[name] = found;
}

/** A name of a query. The simulator joins several values of one name. */
function readQuery(
	name: string,
	template: unknown,
	sent: string | undefined,
	values: Received['values'],
): void {
	const texts = (Array.isArray(template) ? template : [template]).map(String);
	const fixed = texts.filter((text) => !PLACEHOLDER.test(text));
	if (sent === (fixed.length > 0 ? fixed.join() : undefined)) return;
	if (sent === undefined || fixed.length === texts.length) throw new Error(`${name} is ${sent}`);
	readText(texts.join(), sent, values);
}

/** Whether nothing is left of a template without its values. */
function isGone(template: unknown): boolean {
	if (typeof template === 'string') return PLACEHOLDER.test(template);
	if (typeof template !== 'object' || template === null) return false;
	const inner = Object.values(template);
	return inner.length > 0 && inner.every(isGone);
}

function readBody(template: unknown, sent: unknown, values: Received['values'], at: string): void {
	if (sent === undefined && isGone(template)) return;
	if (typeof template === 'string') {
		if (typeof sent !== 'string' && !/^\{\w+\??\}$/.test(template))
			throw new Error(`${at}: no text`);
		readText(template, String(sent), values);
	} else if (Array.isArray(template) && Array.isArray(sent)) {
		// The only value that may be missing is the last one.
		for (const [nth, inner] of template.entries())
			readBody(inner, sent[nth], values, `${at}[${nth}]`);
		if (sent.length > template.length) throw new Error(`${at} is too long`);
	} else if (isObject(template) && isObject(sent)) {
		const unknown = Object.keys(sent).filter((name) => !Object.hasOwn(template, name));
		if (unknown.length > 0) throw new Error(`${at}: unknown ${unknown.join()}`);
		for (const name of Object.keys(template)) {
			const inner: unknown = Object.hasOwn(sent, name) ? sent[name] : undefined;
			readBody(template[name], inner, values, `${at}.${name}`);
		}
	} else if (!isDeepStrictEqual(template, sent)) throw new Error(`${at} is different`);
}
