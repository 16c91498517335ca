/** Makes a Service Profile from a provider's examples: `curl` commands, responses, and answers about their values. */
import set from 'lodash/set';
import { ExplainedError } from '../../nodes/core/service/errors';
import {
	PARTS,
	type PartName,
	PLACEHOLDERS,
	readProfile,
	type RequestName,
} from '../../nodes/core/profile/schema';
import { listAt, POSITIONS } from '../../nodes/core/profile/template';
import {
	isJsonObject,
	parseJson,
	type JsonObject,
	type JsonValue,
} from '../../nodes/core/values/json';
import { joinedWithAnd, quoted } from '../../nodes/core/values/values';
import { type ExampleRequest, readCommands, withoutSecrets } from './curl';
import { hasForm, likelyChoice } from './forms';

export interface Examples {
	curls: string;
	/** Example responses by their part. */
	responses: { [part: string]: string };
	/** Chosen values by the ID of their question. */
	answers: { [question: string]: string };
}

export interface Choice {
	value: string;
	label: string;
}

export interface Question {
	id: string;
	text: string;
	choices: Choice[];
	/** Empty if nothing is chosen yet. */
	answer: string;
}

interface ShownPart {
	name: PartName;
	request: string;
	/** Whether an example response shows more of it. */
	takesResponse: boolean;
	questions: Question[];
	/** What is sent as it's written. */
	literals: string[];
	notes: string[];
}

export interface Conversion {
	parts: ShownPart[];
	/** Requests that aren't a part. */
	others: string[];
	/** Empty until it's finished. */
	profile: string;
	/** Why it isn't finished. */
	missing: string;
}

const REQUESTS: { readonly [name in PartName]: string } = {
	agents: 'GET /v1/active_agents',
	calls: 'GET /v1/calls',
	'dnd.add': 'POST /v1/dnd_numbers',
	'dnd.list': 'GET /v1/dnd_numbers',
	'dnd.remove': 'DELETE /v1/dnd_numbers',
	'chat.session': 'POST /v1/chat/session',
	'chat.inbound': 'POST /v1/chat/inbound',
	'chat.async': 'POST /v1/chat/inbound/async',
};

/** What each part is for. */
const PART_SUBJECTS: { readonly [name in PartName]: string } = {
	agents: 'the list of agents',
	calls: 'the call list',
	'dnd.add': 'adding numbers to do-not-disturb lists',
	'dnd.list': 'do-not-disturb lists',
	'dnd.remove': 'removing numbers from do-not-disturb lists',
	'chat.session': 'creating chat sessions',
	'chat.inbound': 'chat messages with an immediate reply',
	'chat.async': 'chat messages with a later reply',
};

/** Each request, and what it's for. */
const PASTEABLE = joinedWithAnd(PARTS.map((name) => `${REQUESTS[name]} (${PART_SUBJECTS[name]})`));

type Placeholder = (typeof PLACEHOLDERS)[RequestName]['must' | 'may'][number];

const SUBJECTS: { readonly [name in Placeholder]: string } = {
	status: 'call status',
	agent: 'agent',
	campaign: 'campaign',
	from: 'first date',
	to: 'last date',
	phone: 'phone number',
	pageSize: 'number of entries per page',
	page: 'page number',
	offset: 'number of calls to skip',
	cursor: 'cursor',
	reason: 'reason',
	person: "customer's name",
	message: 'message',
	session: 'ID of the chat session',
};

const NONE = 'none';
const THE_SERVICE_HAS_NONE: Choice = { value: NONE, label: 'The service has none' };

/** What the examples show so far, what's still to be answered, and the profile. */
export function profileFrom({ curls, responses, answers }: Examples): Conversion {
	const { requests, secrets } = readCommands(curls);
	const others: string[] = [];
	const shown = new Map<PartName, Conversation>();
	for (const request of requests) {
		const name = PARTS.find((part) => isPart(part, request));
		const written = `${request.method} ${request.path}`;
		if (request.path === '') others.push(...request.notes);
		else if (name === undefined) others.push(`${written} isn't a part of the profile.`);
		else if (shown.has(name)) others.push(`${written} is there twice. The first one is used.`);
		else {
			const response = withoutSecrets(parseJson(responses[name] ?? '') ?? null, secrets);
			shown.set(name, new Conversation(name, request, response, answers));
		}
	}
	const parts = PARTS.flatMap((name) => shown.get(name) ?? []);
	const written = parts.map((part) => [part.name, part.result()] as const);
	const profile = Object.fromEntries(written.filter(([, part]) => part !== undefined));
	return {
		parts: parts.map((part, at) => part.shown(written[at]?.[1], responses[part.name] ?? '')),
		others,
		...checked(profile, parts),
	};
}

function isPart(name: PartName, { method, path }: ExampleRequest): boolean {
	const [partMethod, partPath = ''] = REQUESTS[name].split(' ');
	return method === partMethod && path.endsWith(partPath);
}

function checked(profile: object, parts: Conversation[]): Pick<Conversion, 'profile' | 'missing'> {
	const open = parts.flatMap(({ questions }) => questions).filter(({ answer }) => answer === '');
	const twice = parts.some((part) => part.usesAValueTwice());
	const text = JSON.stringify(profile, null, 2);
	if (parts.length === 0) return { profile: '', missing: `Paste at least one of ${PASTEABLE}.` };
	if (open.length > 0)
		return { profile: '', missing: `Answer each question: ${open[0]?.text ?? ''}` };
	if (twice)
		return { profile: '', missing: 'Choose another value where two answers are the same.' };
	if (Object.keys(profile).length === 0)
		return { profile: '', missing: 'The profile has no part yet.' };
	try {
		readProfile(text);
		return { profile: text, missing: '' };
	} catch (error) {
		if (!(error instanceof ExplainedError)) throw error;
		return { profile: '', missing: `${error.message}. ${error.resolution}` };
	}
}

/** The questions and answers about one part. A question may depend on the answers before it. */
class Conversation {
	readonly questions: Question[] = [];
	private readonly notes: string[];
	private readonly template: JsonObject;
	/** The values of the request by the ID of a choice. */
	private readonly values: ReadonlyMap<string, Value>;
	private readonly used: string[] = [];

	constructor(
		readonly name: PartName,
		private readonly request: ExampleRequest,
		private readonly response: JsonValue,
		private readonly answers: Examples['answers'],
	) {
		this.notes = [...request.notes];
		this.template = { query: request.query, body: request.body };
		this.values = new Map(valuesIn(this.template).map((one) => [JSON.stringify(one.path), one]));
	}

	/** The part. Undefined if it shows nothing. */
	result(): JsonObject | undefined {
		if (this.name === 'agents') return this.agents();
		const template = structuredClone(this.template);
		const { must, may }: { must: readonly Placeholder[]; may: readonly Placeholder[] } =
			PLACEHOLDERS[this.name];
		const isPosition = (one: Placeholder) => POSITIONS.some((position) => position === one);
		for (const one of must) this.place(template, one, false);
		for (const one of may) if (!isPosition(one)) this.place(template, one, true);
		const more = this.name === 'calls' ? this.calls(template) : this.session();
		return { ...withoutEmpty(template), ...more };
	}

	usesAValueTwice(): boolean {
		return new Set(this.used).size < this.used.length;
	}

	shown(result: JsonObject | undefined, response: string): ShownPart {
		const { name, request, questions } = this;
		const notes = [...this.notes];
		if (response.trim() !== '' && this.response === null)
			notes.push("The response isn't valid JSON.");
		if (name === 'agents' && result === undefined) {
			notes.push(
				'If each agent in the response has a field agent_uuid, the profile needs no part for it. Otherwise, paste an example response.',
			);
		}
		const isSent = (id: string) => name !== 'agents' && !this.used.includes(id);
		return {
			...{ name, request: `${request.method} ${request.path}`, questions, notes },
			takesResponse: name === 'agents' || name === 'calls' || name === 'chat.session',
			literals: [...this.values].filter(([id]) => isSent(id)).map(([, value]) => labelOf(value)),
		};
	}

	private ask(id: string, text: string, choices: Choice[], likely = ''): string {
		const given = this.answers[`${this.name}.${id}`] ?? '';
		const offered = (value: string) => choices.some((one) => one.value === value);
		const [only] = choices;
		const isOnlyNone = choices.length === 1 && only?.value === NONE;
		const answer = [given, likely, isOnlyNone ? NONE : ''].find(offered) ?? '';
		this.questions.push({ id: `${this.name}.${id}`, text, choices, answer });
		return answer;
	}

	/** Writes a placeholder where the value is. */
	private place(template: JsonObject, name: Placeholder, isOptional: boolean): void {
		const choices = [...this.values].map(([value, one]) => ({ value, label: labelOf(one) }));
		const subject = SUBJECTS[name];
		const answer = this.ask(
			name,
			`Where is the ${subject}?`,
			isOptional ? [...choices, THE_SERVICE_HAS_NONE] : choices,
			likelyChoice(name, this.values),
		);
		if (!isOptional && answer === '') {
			this.notes.push(`If the example has no ${subject}, paste one that has it.`);
		}
		const value = this.values.get(answer);
		if (value === undefined) return;
		this.used.push(answer);
		const mayLack = isOptional && this.mayLack(name);
		set(template, value.path, `{${name}${mayLack ? '?' : ''}}`);
	}

	private mayLack(name: Placeholder): boolean {
		const choices = [
			{ value: 'no', label: 'No, it may be missing' },
			{ value: 'yes', label: 'Yes' },
		];
		const text = `Does the service need the ${SUBJECTS[name]} in every request?`;
		return this.ask(`${name}.needed`, text, choices, 'no') === 'no';
	}

	/** A choice of a path in a response. Undefined if the service has none. */
	private path(id: string, text: string, choices: Choice[], likely = ''): string | undefined {
		const answer = this.ask(id, text, choices, likely);
		return answer === '' || answer === NONE ? undefined : answer;
	}

	private list(what: string): { path: string; entry: JsonValue } | undefined {
		const lists = placesIn(this.response).filter(({ value }) => typeof value === 'object' && value);
		const choices = lists.map(({ path, value }) => {
			return { value: path || '{response}', label: path || 'The whole response', inner: value };
		});
		const arrays = choices.filter(({ inner }) => Array.isArray(inner));
		const sorted = [...arrays, ...choices.filter((one) => !arrays.includes(one))];
		const offered = sorted.map(({ value, label }) => ({ value, label }));
		const likely = arrays.length === 1 ? arrays[0]?.value : '';
		const path = this.path('list', `Where is the list of ${what}?`, offered, likely);
		if (path === undefined) return undefined;
		const list = listAt(this.response, path) ?? [];
		const entries: JsonValue[] = typeof list === 'object' ? Object.values(list) : [];
		return { path, entry: entries[0] ?? null };
	}

	private agents(): JsonObject | undefined {
		if (this.values.size > 0)
			this.notes.push('The profile has no place for the values of this request.');
		if (this.response === null) return undefined;
		const list = this.list('agents');
		if (list === undefined) return undefined;
		const inEntry = this.inEntry(list);
		const likely = inEntry.filter(({ text }) => hasForm('agent', text));
		const id = this.path(
			'id',
			"Where is an agent's ID?",
			inEntry,
			likely.length === 1 ? likely[0]?.value : '',
		);
		const name = this.path('name', "Where is an agent's name?", [...inEntry, THE_SERVICE_HAS_NONE]);
		return { list: list.path, ...given({ id, name }) };
	}

	/** The values of the first entry of a list, and its key if the list is an object. */
	private inEntry({ path, entry }: { path: string; entry: JsonValue }) {
		const list = listAt(this.response, path);
		const choices = leavesIn(entry).map((one) => ({ ...one, value: one.value || '{entry}' }));
		if (!isJsonObject(list)) return choices;
		const [key = ''] = Object.keys(list);
		return [
			...choices,
			{ value: '{key}', label: `The key of the entry: ${quoted(key)}`, text: key },
		];
	}

	private session(): JsonObject {
		if (this.name !== 'chat.session' || this.response === null) return {};
		const leaves = leavesIn(this.response);
		const likely = leaves.filter(({ text }) => hasForm('session', text));
		const own = { value: NONE, label: 'In session_id' };
		const session = this.path(
			'path',
			'Where is the ID of the new session?',
			[...leaves, own],
			likely.length === 1 ? likely[0]?.value : '',
		);
		return given({ session });
	}

	/** Adds the placeholder of further pages. */
	private calls(template: JsonObject): JsonObject {
		const dates = this.dates();
		if (this.response === null) {
			this.notes.push(
				"To read more than one page, paste an example response, too. A page, offset, or cursor in the request doesn't change without it.",
			);
			return given({ dates });
		}
		const list = this.list('calls');
		if (list === undefined) return given({ dates });
		const isUnderKeys = isJsonObject(listAt(this.response, list.path));
		const key = isUnderKeys
			? this.path('key', 'What is the key of a call?', [
					{ value: 'call_id', label: "The call's ID" },
					{ value: 'key', label: 'Something else' },
				])
			: undefined;
		const objects = placesIn(list.entry).filter(
			({ path, value }) => path !== '' && isJsonObject(value),
		);
		const itself = { value: NONE, label: 'The entry is the call' };
		const entry =
			objects.length === 0
				? undefined
				: this.path('entry', 'Where in an entry of the list is the call?', [
						itself,
						...objects.map(({ path }) => ({ value: path, label: path })),
					]);
		const numbers = leavesIn(this.response).filter(({ text }) => /^\d+$/.test(text));
		const total = this.path('total', 'Where is the number of matching calls?', [
			...numbers,
			THE_SERVICE_HAS_NONE,
		]);
		const next = this.next(template);
		return { list: list.path, ...given({ key, entry, total, dates, next }) };
	}

	/** The form of the chosen dates. Undefined if they have no clear one. */
	private dates(): string | undefined {
		for (const name of ['from', 'to']) {
			const asked = this.questions.find(({ id }) => id === `${this.name}.${name}`);
			const text = this.values.get(asked?.answer ?? '')?.text ?? '';
			if (hasForm('date', text)) return 'date';
			if (hasForm('dateTime', text)) return 'dateTime';
		}
		return undefined;
	}

	private next(template: JsonObject): JsonValue | undefined {
		const kind = this.ask('next', 'How does the service return further calls?', [
			{ value: 'page', label: 'By the number of a page' },
			{ value: 'offset', label: 'By the number of calls to skip' },
			{ value: 'cursor', label: 'By a cursor in the response' },
			{ value: 'link', label: 'By a link in the response' },
			{ value: NONE, label: 'All calls are in one response' },
		]);
		if (kind === '' || kind === NONE) return kind === NONE ? 'none' : undefined;
		if (kind !== 'link') {
			this.place(template, kind === 'page' || kind === 'offset' ? kind : 'cursor', false);
		}
		if (kind === 'page' || kind === 'offset') {
			const text = kind === 'page' ? 'Which page is the first?' : 'Which offset is the first?';
			const first = this.ask('first', text, [
				{ value: '0', label: '0' },
				{ value: '1', label: '1' },
			]);
			return first === '' ? undefined : { [kind]: Number(first) };
		}
		const what = kind === 'link' ? 'link' : 'cursor';
		const places = leavesIn(this.response);
		const path = this.path('nextPath', `Where is the ${what} of the next page?`, places);
		return path === undefined ? undefined : { [kind]: path };
	}
}

interface Value {
	path: string[];
	text: string;
}

/** What a request has at each place. */
function valuesIn(value: JsonValue, path: string[] = []): Value[] {
	if (typeof value === 'string' || typeof value === 'number')
		return [{ path, text: String(value) }];
	if (typeof value !== 'object' || value === null) return [];
	return Object.entries(value).flatMap(([name, inner]) => valuesIn(inner, [...path, name]));
}

function labelOf({ path: [place = '', ...path], text }: Value): string {
	return `${path.join('.')} in the ${place}: ${quoted(text)}`;
}

/** All values that a path can lead to, without those in lists. The path of the whole value is empty. */
function placesIn(value: JsonValue, path = ''): Array<{ path: string; value: JsonValue }> {
	const inner = isJsonObject(value) ? Object.entries(value) : [];
	return [
		{ path, value },
		...inner.flatMap(([name, one]) => {
			const isPlain = /^[^.[\]"'{}$\s]+$/.test(name);
			const next = isPlain ? `${path === '' ? '' : '.'}${name}` : `[${JSON.stringify(name)}]`;
			return placesIn(one, `${path}${next}`);
		}),
	];
}

/** The texts and numbers in a response, as choices. */
function leavesIn(response: JsonValue): Array<Choice & { text: string }> {
	return placesIn(response).flatMap(({ path, value }) => {
		if (typeof value !== 'string' && typeof value !== 'number') return [];
		const text = String(value);
		return [{ value: path, label: `${path || 'The entry'}: ${quoted(text)}`, text }];
	});
}

function withoutEmpty(template: JsonObject): JsonObject {
	return Object.fromEntries(
		Object.entries(template).filter(([, inner]) => Object.keys(inner ?? {}).length > 0),
	);
}

function given(part: { [name: string]: JsonValue | undefined }): JsonObject {
	const entries = Object.entries(part).flatMap<[string, JsonValue]>(([name, value]) =>
		value === undefined ? [] : [[name, value]],
	);
	return Object.fromEntries(entries);
}
