import { createHmac } from 'node:crypto';
import set from 'lodash/set';
import type { JsonObject } from '../json';
import type { Agent } from '../state/state';

/** Chooses one of the forms of a detail: the plain one, the scrambled one, and others that only a random dialect has. */
export type Choose = <const T>(plain: T, scrambled: T, ...others: T[]) => T;

/** A value of a request. Dots nest in a body, but not in a query. */
export interface Field {
	readonly in: 'query' | 'body';
	readonly name: string;
}

/** A part of the call list. */
export interface Page {
	items: JsonObject[];
	total: number;
	/** Index of the next item in the whole list. Null on the last page. */
	next: number | null;
	/** The query of the next page. Null on the last page. */
	link: string | null;
}

interface AgentList {
	/** Where the agents and their IDs are, if they have no `agent_uuid`. */
	path?: string;
	idPlace?: 'field' | 'key';
	idPath?: string;
	namePath?: string;
	body(agents: Agent[]): JsonObject;
}

interface Paging {
	style: 'pageFromOne' | 'pageFromZero' | 'offset' | 'cursor' | 'nextLink';
	position: string;
	size: string;
	defaultSize: number;
	maxSize: number;
	/** Where the cursor or the link is in the response. */
	nextPath?: string;
}

interface Entries {
	path: string;
	/** The name of the field whose value is the key of the entry. */
	keyName?: string;
	/** Where the call is in its entry. */
	itemPath?: string;
}

type ListBody = (page: Page) => JsonObject;
type Shown = (value: JsonObject) => JsonObject;
type MessageId = (counter: number) => string | number;

const query = (name: string): Field => ({ in: 'query', name });
const body = (name: string): Field => ({ in: 'body', name });

/**
 * The table of open details: each detail that the service doesn't document and that a node or its user depends on, with
 * its forms. Also the readings of ambiguous sentences.
 */
export function dialectOf(name: string, choose: Choose) {
	return {
		name,
		/** HTTP statuses of rejections. With 200, only the body shows the rejection. */
		statuses: {
			agentNotFound: choose<number>(404, 402, 200, 403, 422),
			callNotFound: choose<number>(404, 406, 200, 422, 410),
			recordingNotAvailable: choose<number>(404, 412, 200, 409, 422),
			campaignNotFound: choose<number>(404, 417, 200, 400, 410),
			phoneMissing: choose<number>(400, 418, 200, 422, 409),
			notOnDndList: choose<number>(404, 423, 200, 409, 422),
			noOutboundNumber: choose<number>(422, 424, 200, 400, 409),
			relayedRejection: choose<number>(409, 451, 200, 422, 403),
			sessionNotFound: choose<number>(404, 200, 400, 410),
			keyReused: choose<number>(409, 406, 200, 422, 412),
			busy: choose<number>(503, 423, 200, 429),
		},
		validation: {
			/** Outside call placement, where the document says 400. */
			status: choose(422, 400),
			body: choose<(problems: string[]) => JsonObject>(
				(problems) => ({ success: false, error: problems.join('; '), details: null }),
				(problems) => ({ success: false, errors: problems }),
				(problems) => ({ success: false, error: problems[0] ?? 'No', details: { problems } }),
			),
		},
		agents: {
			/** Query parameter that narrows the list to one agent. */
			filter: choose<string>('agent_uuid', 'only.bot', 'id', 'filter[agent]'),
			list: choose<AgentList>(
				{
					body: (agents) => ({
						success: true,
						data: agents.map(({ agentUuid, name: agent_name, number }) => {
							return { agent_uuid: agentUuid, agent_name, phone_number: number };
						}),
					}),
				},
				{
					path: 'data.on_duty',
					idPlace: 'key',
					body: (agents) => ({
						success: true,
						data: {
							on_duty: Object.fromEntries(
								agents.map(({ agentUuid, name: agent_name, number }) => {
									return [agentUuid, { agent_name, lines: [number] }];
								}),
							),
						},
					}),
				},
				{
					body: (agents) => ({
						success: true,
						data: {
							result: {
								active_agents: agents.map(({ agentUuid, name: agent_name }) => {
									return { type: 'agent', attributes: { agent_uuid: agentUuid, agent_name } };
								}),
							},
						},
						meta: { total_count: agents.length },
					}),
				},
				{
					path: 'data.people',
					idPlace: 'field',
					idPath: 'bot.ref',
					namePath: 'bot.title',
					body: (agents) => ({
						success: true,
						data: {
							people: agents.map(({ agentUuid, name: title }) => {
								return { bot: { ref: agentUuid, title } };
							}),
						},
					}),
				},
			),
		},
		calls: {
			filters: {
				status: choose<string>('status', 'where.outcome', 'st', 'filter[status]'),
				agent: choose<string>('agent_uuid', 'filter[agent_uuid]', 'agent', 'where.bot'),
				campaign: choose<string>('campaign_id', 'where.drive', 'cid', 'filter[campaign]'),
				from: choose<string>('from_date', 'filter[created_from]', 'since', 'begun_after'),
				to: choose<string>('to_date', 'filter[created_to]', 'until', 'begun_before'),
				phone: choose<string>('phone_number', 'where.digits', 'q', 'filter[phone]'),
			},
			dateForm: choose<'dateTime' | 'date'>('dateTime', 'date'),
			...callList({
				paging: choose<Paging>(
					{
						style: 'pageFromOne',
						...{ position: 'page', size: 'per_page', defaultSize: 20, maxSize: 100 },
					},
					{
						style: 'nextLink',
						...{ position: 'skip', size: 'take', defaultSize: 15, maxSize: 40 },
						nextPath: 'links.onward',
					},
					{
						style: 'offset',
						...{ position: 'offset', size: 'limit', defaultSize: 10, maxSize: 50 },
					},
					{
						style: 'cursor',
						...{ position: 'cursor', size: 'page_size', defaultSize: 5, maxSize: 25 },
						nextPath: 'meta.next_cursor',
					},
					{
						style: 'pageFromZero',
						...{ position: 'sheet', size: 'per_sheet', defaultSize: 8, maxSize: 30 },
					},
				),
				entries: choose<Entries>(
					{ path: 'data' },
					{ path: 'data.result.items', itemPath: 'call' },
					{ path: 'data.by_id', keyName: 'call_id', itemPath: 'about' },
					{ path: 'data.calls' },
				),
				/** Where the number of calls is, and how it's written. */
				total: choose<{ path: string; type: typeof Number | typeof String } | null>(
					{ path: 'meta.total_count', type: Number },
					null,
					{ path: 'meta.found', type: String },
				),
				/** The whole record, or a part of it. */
				shown: choose<Shown>(
					(record) => record,
					({ summary: _summary, data_captured: _captured, ...rest }) => rest,
				),
			}),
			/** Statuses of a call in progress, in order. Null: no status yet. */
			inFlight: choose<Array<string | null>>(
				['queued', 'ringing'],
				['state_7q', 'in_talk_7q', 'wrapping_up_7q'],
				[null],
			),
			/** How a field without a value is written. */
			missing: choose<'null' | 'absent'>('null', 'absent'),
			/** Whether the call list has calls that are scheduled for later. */
			listsScheduled: choose<boolean>(true, false),
			trunkZeroAccepted: choose<boolean>(true, false),
			lowerCaseCountryAccepted: choose<boolean>(false, true),
			/** The length of a text, as this service counts characters. */
			textLength: choose<(text: string) => number>(
				(text) => [...text].length,
				(text) => Buffer.byteLength(text),
				(text) => text.length,
			),
			pastSchedule: choose<'rejected' | 'placedNow'>('rejected', 'placedNow'),
			numberOnDnd: choose<'rejected' | 'notDialed'>('rejected', 'notDialed'),
			inactiveAgent: choose<'accepted' | 'rejected'>('accepted', 'rejected'),
			recordingUrl: choose<(origin: string, path: string) => string>(
				(origin, path) => `${origin.replace('127.0.0.1', 'localhost')}/media${path}`,
				(origin, path) => `${origin}/r/2${path}`,
			),
			recordingHeaders: choose<Record<string, string>>(
				{ 'content-type': 'audio/wav' },
				{
					'content-type': 'application/octet-stream',
					'content-disposition': 'attachment; filename="call recording.ogg"',
				},
				{ 'content-type': 'audio/mpeg' },
			),
		},
		campaigns: {
			/** Call window and calling days. */
			extraFields: choose<JsonObject>(
				{ calling_days: [1, 2, 3, 4, 5], call_window_start: '09:00', call_window_end: '19:00' },
				{ calling: { weekdays: 'mon-fri', daily: ['10:00', '18:00'] } },
			),
			archivedText: choose<string>('Campaign is archived and read-only', 'Closed for good'),
			dndSkipped: choose<(phone: string, index: number) => JsonObject>(
				(phone) => ({ phone, reason: 'dnd' }),
				(phone, index) => ({ line: index, targets: [{ digits: Number(phone.slice(1)) }] }),
				(phone, index) => ({ number: phone, index }),
			),
			/** A skipped number, in its stored form or as sent. */
			engineSkipped: choose<(phone: string, sent: string) => string>(
				(phone) => phone,
				(phone) => phone.slice(1),
				(_phone, sent) => sent,
			),
			warning: choose<(status: string) => unknown>(
				(status) => `Campaign is ${status}; queued contacts will wait until it is Active`,
				(status) => ({ texts: [`not calling: ${status}`] }),
			),
			acceptedCountsDndSkipped: choose<boolean>(false, true),
			plus91NeedsMobile: choose<boolean>(true, false),
			/** Which duplicate's extra keys are kept. */
			duplicates: choose<'longerName' | 'first' | 'merged'>('longerName', 'first', 'merged'),
			reportsEveryBadContact: choose<boolean>(false, true),
			/** The index of the first contact in `contacts[<index>]`. */
			firstContactIndex: choose(0, 1),
			/** Whether a list that wasn't released has an empty queue. */
			emptyQueueShown: choose<boolean>(false, true),
		},
		dnd: {
			add: {
				agent: choose(body('agent_uuid'), body('for.bot'), query('agent')),
				phone: choose(body('phone'), query('blocked.digits'), body('number')),
				reason: choose(body('reason'), body('blocked.notes.0'), query('why')),
			},
			list: {
				agent: choose<string>('agent_uuid', 'for.bot', 'agent', 'filter[agent]'),
				phone: choose<string>('phone', 'has', 'q', 'filter[phone]'),
				page: choose<string>('page', 'page[number]', 'sheet', 'p'),
				perPage: choose<string>('per_page', 'page[size]', 'per_sheet', 'n'),
			},
			remove: {
				phone: choose(query('phone'), body('blocked.phone'), body('phone')),
				agent: choose(query('agent_uuid'), body('blocked.bot'), query('agent_id')),
			},
			/** Number of the first page. */
			firstPage: choose(1, 0),
			defaultPerPage: choose(25, 10, 50),
			/** Handling of a page size above the documented cap. */
			overCap: choose<'clamped' | 'rejected'>('clamped', 'rejected'),
			/** Accepted formats of a number for removal and addition. */
			phoneForms: choose<'any' | 'international' | 'digits'>('any', 'digits', 'international'),
			addTwice: choose<'accepted' | 'rejected'>('accepted', 'rejected'),
			addBody: choose<Shown>(
				(entry) => ({ success: true, data: entry }),
				(entry) => ({ success: true, data: { blocked: [{ id: entry.id }] } }),
				({ phone }) => ({ success: true, message: `added ${String(phone)}` }),
			),
			phoneMissing: choose<string>(
				'phone is required',
				'blocked.phone is missing',
				'param is missing or the value is empty: phone',
				'The parameter phone must not be empty',
			),
		},
		/** The completion webhook. */
		webhook: {
			body: choose<(callId: string, record: JsonObject) => JsonObject>(
				(_callId, record) => record,
				(_callId, record) => ({ bulletin: { topic: 'call_over', about: [record] } }),
				(callId, record) => ({ event: 'call.completed', call_id: callId, data: record }),
			),
			headers: choose<(body: string) => Record<string, string>>(
				() => ({ 'content-type': 'application/json' }),
				(body) => ({
					'content-type': 'application/json; charset=utf-8',
					'x-signature': createHmac('sha256', 'secret').update(body).digest('hex'),
				}),
			),
		},
		chat: {
			create: {
				agent: choose(body('agent_uuid'), query('with.bot'), body('agent')),
				person: choose(body('person_name'), body('caller.label'), query('from')),
				/** The nodes have no setting for it, so users enter it as an additional body field. */
				metadata: choose(body('metadata'), body('caller.facts'), body('vars')),
			},
			/** The name of a session's normal state. */
			sessionStatus: choose<string>('active', 'awake_7q'),
			created: choose<{ path?: string; body: (session: { session_id: string }) => JsonObject }>(
				{ body: (session) => ({ success: true, data: session }) },
				{
					path: 'data.talks.0.ref',
					body: ({ session_id: ref, ...rest }) => ({
						success: true,
						data: { talks: [{ ref, ...rest }] },
					}),
				},
				{ body: (session) => ({ success: true, data: { session }, meta: { created: true } }) },
				{
					path: 'data.id',
					body: ({ session_id: id }) => ({ success: true, data: { id } }),
				},
			),
			inbound: {
				session: choose(body('session_id'), body('to.session_ref'), query('sid')),
				agent: choose(body('agent_uuid'), query('with.bot'), body('agent')),
				message: choose(body('message'), body('said.text'), query('text')),
				person: choose(body('person_name'), body('caller.label'), body('from')),
				messageId: choose(body('message_id'), body('said.ref'), body('mid')),
			},
			async: {
				session: choose(body('chat_session_id'), query('to.talk_ref'), body('s')),
				agent: choose(body('agent_uuid'), body('to.bot'), query('assistant_id')),
				message: choose(body('content'), body('said.parts.0.text'), query('m')),
				person: choose(body('person_name'), body('caller.title'), body('p')),
				messageId: choose(body('message_id'), body('said.key'), body('i')),
			},
			/** The response to a synchronous message. */
			inboundBody: choose<Shown>(
				(result) => ({ success: true, data: result }),
				(result) => ({ success: true, data: { outcome: { of_turn: result } } }),
				(result) => ({ success: true, ...result }),
			),
			/** The immediate response to an asynchronous message. */
			asyncBody: choose<(turnId: unknown, messageId: unknown) => JsonObject>(
				(turnId, messageId) => ({
					success: true,
					data: { state: 'accepted', turn_id: turnId, message_id: messageId },
				}),
				(turnId, messageId) => ({
					success: true,
					message: 'Accepted',
					data: { line: [{ turn_ref: turnId, message_id: messageId }] },
				}),
				(turnId) => ({ success: true, data: { turn: turnId } }),
			),
			/** `tell` is a hint to the AI, which is rejected during a take-over. `text` is the field of the text. */
			commands: {
				takeOver: choose<string>('takeover', 'human_in', 'assign_operator'),
				release: choose<string>('release', 'human_out', 'resume_ai'),
				tell: choose<string>('tell', 'brief', 'whisper'),
				text: choose<string>('message', 'words', 'content'),
			},
			supportBody: choose<(command: string, mode: string) => JsonObject>(
				(command, mode) => ({ success: true, data: { command, mode } }),
				(command, mode) => ({
					success: true,
					data: { carried_out: command, now: { in_mode: mode } },
				}),
			),
			/** `error` for a session that does not exist. */
			unknownSession: choose<string>('session_not_found', 'No such talk', 'agent_not_found'),
			/** `error` for a message to a closed session. */
			closedText: choose<string>('Session is closed', 'This talk is over', 'session_closed'),
			messageId: choose<MessageId>(
				(counter) => `msg_${counter}`,
				(counter) => counter,
				(counter) => `8f14e45f-ceea-467f-a8d3-${counter.toString(16).padStart(12, '0')}`,
			),
			turnId: choose<MessageId>(
				(counter) => `turn_${counter}`,
				(counter) => `${counter}-7q`,
				(counter) => counter,
			),
			/** Whether a message ID of the client is returned instead of the service's own. */
			echoesMessageId: choose<boolean>(true, false),
			/** Whether the ack of a merged message names its own turn beside the one it was merged into. */
			mergedNamesOwnTurn: choose<boolean>(true, false),
		},
		socket: {
			/** Query that ws_url already has. */
			urlQuery: choose<string>('', 'v=1&region=in%2F1'),
			accountId: choose<(id: number) => string | number>(
				(id) => id,
				(id) => `acc_${id}`,
			),
			eventId: choose<MessageId>(
				(counter) => `evt_${counter}`,
				(counter) => `${counter}-7q`,
				(counter) => counter,
			),
			ts: choose<(ms: number) => string | number>(
				(ms) => new Date(ms).toISOString(),
				(ms) => Math.floor(ms / 1000),
				(ms) => ms,
			),
			/** `state` of a turn_result. */
			resultState: choose<string>('default', 'done_7q'),
			activeHuman: choose<unknown>('operator-1', { id: 7 }),
			reactivatedReason: choose<string>('customer_message', 'reason_7q'),
			resumedReason: choose<string>('operator_idle', 'reason_7q'),
			/** Order of a reply outside the ack and its turn_result. */
			replyText: choose<'before' | 'after' | 'nowhere'>('before', 'nowhere', 'after'),
			/** Which message the `message_id` of a turn_result names. */
			resultNames: choose<'agent' | 'customer'>('agent', 'customer'),
			/** Which turn the turn_result of a merged message names. */
			mergedResult: choose<'target' | 'own' | 'both'>('target', 'own', 'both'),
			ackBeforeEvents: choose<boolean>(true, false),
			socketEndsWithToken: choose<boolean>(false, true),
			/** Whether a new client gets recent events, too. */
			replaysOnFirstConnect: choose<boolean>(false, true),
			takeOverCode: choose<number>(1008, 4409, 1000),
			/** What happens to a connection if the same client connects again. */
			sameClientTwice: choose<'replaced' | 'both'>('replaced', 'both'),
			replacedCode: choose<number>(1000, 4409, 4001),
			closeReason: choose<(word: string) => string>(
				(word) => word,
				() => '',
				(word) => `Policy: ${word.replaceAll('_', ' ')}`,
			),
			afterClosed: choose<'closes' | 'staysOpen'>('closes', 'staysOpen'),
			closedSessionCode: choose<number | null>(1008, null, 1000),
		},
	};
}

/** A service with one form of each detail. */
export type Dialect = ReturnType<typeof dialectOf>;

interface CallList {
	paging: Paging;
	entries: Entries;
	total: { path: string; type: typeof Number | typeof String } | null;
	shown: Shown;
}

/** The call list, with the response that these forms make together. */
function callList({ shown, ...list }: CallList) {
	const { paging, entries, total } = list;
	const listBody: ListBody = ({ items, total: count, next, link }) => {
		const body: JsonObject = { success: true };
		set(body, entries.path, entriesOf(items, entries));
		if (total !== null) set(body, total.path, total.type(count));
		if (paging.nextPath !== undefined) {
			const cursor = next === null ? null : `c${next}`;
			set(body, paging.nextPath, paging.style === 'cursor' ? cursor : link);
		}
		return body;
	};
	return { ...list, listItem: shown, listBody };
}

function entriesOf(items: JsonObject[], { keyName, itemPath }: Entries): unknown {
	const entry = (item: JsonObject) => (itemPath === undefined ? item : { [itemPath]: item });
	if (keyName === undefined) return items.map(entry);
	return Object.fromEntries(items.map(({ [keyName]: key, ...item }) => [String(key), entry(item)]));
}
