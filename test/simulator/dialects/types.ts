import type { JsonObject } from '../json';
import type { Agent } from '../state/state';

/** One valid choice for every detail that the service doesn't document and a node or its user depends on. */
export interface Dialect {
	name: string;
	/** HTTP statuses that aren't documented. */
	statuses: Record<UndocumentedStatus, number>;
	validation: {
		/** Status outside call placement, where the document says 400. */
		status: 400 | 422;
		body(problems: string[]): JsonObject;
	};
	agents: {
		/** Query parameter that narrows the list to one agent. */
		filter: string;
		record(agent: Agent): JsonObject;
		body(agents: JsonObject[]): JsonObject;
	};
	calls: CallsDialect;
	campaigns: CampaignsDialect;
	dnd: DndDialect;
	/** The completion webhook. */
	webhook: {
		body(callId: string, record: JsonObject): JsonObject;
		headers(body: string): Record<string, string>;
	};
	chat: ChatDialect;
	socket: SocketDialect;
}

export type UndocumentedStatus =
	| 'agentNotFound'
	| 'callNotFound'
	| 'recordingNotAvailable'
	| 'campaignNotFound'
	| 'phoneMissing'
	| 'notOnDndList'
	| 'noOutboundNumber'
	| 'relayedRejection'
	| 'sessionNotFound'
	| 'keyReused'
	| 'busy';

/** A part of the call list. */
export interface Page {
	items: JsonObject[];
	total: number;
	size: number;
	/** Index of the first item in the whole list. */
	start: number;
	next: number | null;
	/** The query of the next page, or null on the last one. */
	link: string | null;
}

export interface CallsDialect {
	filters: Record<'status' | 'agent' | 'campaign' | 'from' | 'to' | 'phone', string>;
	paging: {
		style: 'page' | 'offset' | 'cursor';
		position: string;
		size: string;
		defaultSize: number;
		maxSize: number;
	};
	listBody(page: Page): JsonObject;
	/** An item of the list: the whole record or a part of it. */
	listItem(record: JsonObject): JsonObject;
	/** Statuses of a call in flight, in order. Null: no status yet. */
	inFlight: Array<string | null>;
	/** How a field without a value is written. */
	missing: 'null' | 'absent';
	/** Whether the call list has calls that are scheduled for later. */
	listsScheduled: boolean;
	trunkZeroAccepted: boolean;
	lowerCaseCountryAccepted: boolean;
	/** The length of a text, as this service counts characters. */
	textLength(text: string): number;
	pastSchedule: 'rejected' | 'placedNow';
	numberOnDnd: 'rejected' | 'notDialed';
	inactiveAgent: 'accepted' | 'rejected';
	recordingUrl(origin: string, path: string): string;
	recordingHeaders: Record<string, string>;
}

export interface CampaignsDialect {
	/** Call window and calling days. */
	extraFields: JsonObject;
	archivedText: string;
	dndSkipped(phone: string, index: number): JsonObject;
	/** A skipped number, in its stored form or as sent. */
	engineSkipped(phone: string, sent: string): string;
	warning(status: string): unknown;
	acceptedCountsDndSkipped: boolean;
	plus91NeedsMobile: boolean;
	/** Which duplicate's extra keys are kept. */
	duplicates: 'longerName' | 'first' | 'merged';
	reportsEveryBadContact: boolean;
	/** The index of the first contact in `contacts[<index>]`. */
	firstContactIndex: 0 | 1;
	/** Whether a list that wasn't released has an empty queue. */
	emptyQueueShown: boolean;
}

/** Names with dots are nested in a body, but not in a query. */
export interface DndDialect {
	add: {
		placement: 'query' | 'body';
		agentPlacement?: 'query' | 'body';
		agent: string;
		phone: string;
		reason: string;
	};
	list: { agent: string; phone: string; page: string; perPage: string };
	remove: {
		phonePlacement: 'query' | 'body';
		/** Where `phone` is nested. */
		phone?: string;
		agentPlacement: 'query' | 'body';
		agent: string;
	};
	/** Number of the first page. */
	firstPage: 0 | 1;
	defaultPerPage: number;
	/** Handling of a page size above the documented cap. */
	overCap: 'clamped' | 'rejected';
	/** Accepted formats of a number for removal and addition. */
	phoneForms: 'any' | 'international' | 'digits';
	addTwice: 'accepted' | 'rejected';
	addBody(entry: JsonObject): JsonObject;
	phoneMissing: string;
}

export interface ChatDialect {
	create: { agent: string; person: string; metadata: string };
	createBody(session: { session_id: string; status: string }): JsonObject;
	/** Names of values that are sent in the query. */
	inQuery: readonly string[];
	inbound: InboundFields;
	async: InboundFields;
	/** The response to a synchronous message. */
	inboundBody(result: JsonObject): JsonObject;
	/** The immediate response to an asynchronous message. */
	asyncBody(turnId: string, messageId: string | number): JsonObject;
	/** `tell` is a hint to the AI, which is rejected during a take-over. `text` is the field of the text. */
	commands: { takeOver: string; release: string; tell: string; text: string };
	supportBody(command: string, mode: string): JsonObject;
	/** `error` for a session that does not exist. */
	unknownSession: string;
	/** `error` for a message to a closed session. */
	closedText: string;
	messageId(counter: number): string | number;
	/** Whether a message ID of the client is returned instead of the service's own. */
	echoesMessageId: boolean;
	/** Whether the ack of a merged message names its own turn beside the one it was merged into. */
	mergedNamesOwnTurn: boolean;
}

/** Names of the body fields of a message. `idempotency_key` is documented. */
export interface InboundFields {
	session: string;
	/** Names the agent if there is no session. The service then finds or creates one. */
	agent: string;
	/** Identifies the customer of an agent. */
	person: string;
	message: string;
	messageId: string;
}

export interface SocketDialect {
	/** Query that ws_url already has. */
	urlQuery: string;
	accountId(id: number): string | number;
	ts(ms: number): string | number;
	/** Order of a reply outside the ack and its turn_result. */
	replyText: 'before' | 'after' | 'nowhere';
	/** Which message the `message_id` of a turn_result names. */
	resultNames: 'customer' | 'agent';
	/** Which turn the turn_result of a merged message names. */
	mergedResult: 'target' | 'own' | 'both';
	ackBeforeEvents: boolean;
	socketEndsWithToken: boolean;
	/** Whether a new client gets recent events, too. */
	replaysOnFirstConnect: boolean;
	takeOverCode: number;
	/** What happens to a connection if the same client connects again. */
	sameClientTwice: 'replaced' | 'both';
	replacedCode: number;
	closeReason(word: string): string;
	afterClosed: 'closes' | 'staysOpen';
	closedSessionCode: number | null;
}
