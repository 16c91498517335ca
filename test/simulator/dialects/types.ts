import type { JsonObject } from '../json';
import type { Agent, DndEntry } from '../state/types';
import type { ChatDialect, SocketDialect } from './chatTypes';

/** One valid choice for every detail that the service document doesn't define. */
export interface Dialect {
	name: string;
	statuses: Statuses;
	validation: ValidationDialect;
	agents: AgentsDialect;
	calls: CallsDialect;
	campaigns: CampaignsDialect;
	dnd: DndDialect;
	webhook: WebhookDialect;
	chat: ChatDialect;
	socket: SocketDialect;
	general: GeneralDialect;
}

/** HTTP statuses that the document calls "not shown". */
export interface Statuses {
	agentNotFound: number;
	callNotFound: number;
	recordingNotAvailable: number;
	campaignNotFound: number;
	dndPhoneMissing: number;
	dndNotOnList: number;
	noOutboundNumber: number;
	relayedRejection: number;
	sessionNotFound: number;
	keyReused: number;
	busy: number;
}

export interface ValidationDialect {
	/** Status outside call placement, where the document says 400. */
	status: 400 | 422;
	body(problems: string[]): JsonObject;
}

export interface AgentsDialect {
	/** Query parameter that narrows the list to one agent. */
	filter: string;
	record(agent: Agent): JsonObject;
	body(agents: JsonObject[]): JsonObject;
}

export type Paging = 'page' | 'offset' | 'cursor';

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
	filters: {
		status: string;
		agent: string;
		campaign: string;
		from: string;
		to: string;
		phone: string;
	};
	/** One filter for both ends of a range. */
	range?: { name: string; form: string };
	/** Whether the ends of a range are seconds since 1970. */
	timesInSeconds?: boolean;
	paging: { style: Paging; position: string; size: string; defaultSize: number; maxSize: number };
	listBody(page: Page): JsonObject;
	/** An item of the list: the whole record or a part of it. */
	listItem(record: JsonObject): JsonObject;
	/** Statuses of a call in flight, in order. Null: no status yet. */
	inFlight: Array<string | null>;
	/** Values beyond those observed in the document. */
	unusual: {
		status: string;
		callType: string;
		channel: string;
		endedBy: string;
		endedReason: string;
	};
	/** How a field without a value is written. */
	missing: 'null' | 'absent';
	/** Whether the ID of a call may be in upper case. */
	callIdInAnyCase: boolean;
	/** Whether the call list has calls that are scheduled for later. */
	listsScheduled: boolean;
	customerRole: string;
	trunkZeroAccepted: boolean;
	lowerCaseCountryAccepted: boolean;
	/** The length of a text, as this service counts characters. */
	textLength(text: string): number;
	pastSchedule: 'rejected' | 'placedNow';
	scheduledAt(sent: string, instant: number): string;
	numberOnDnd: 'rejected' | 'notDialed';
	inactiveAgent: 'accepted' | 'rejected';
	noNumberText: string;
	recordingUrl(origin: string, path: string): string;
	recordingHeaders: Record<string, string>;
}

export interface CampaignsDialect {
	retryDelay: number;
	/** Call window and calling days. */
	extraFields: JsonObject;
	/** Campaign states that can be activated, paused, or archived. */
	lifecycle: Record<'Active' | 'Paused' | 'Archived', string[]>;
	fileName(id: number): string;
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
	emptyListAccepted: boolean;
}

export interface DndDialect {
	/** Names with dots are nested in a body, but not in a query. */
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
	firstPage?: 0;
	defaultPerPage: number;
	/** Handling of a page size above the documented cap. */
	overCap: 'clamped' | 'rejected';
	/** Accepted formats of a number for removal and addition. */
	phoneForms: 'any' | 'international' | 'digits';
	addTwice: 'accepted' | 'rejected';
	addBody(entry: DndEntry, wire: JsonObject): JsonObject;
	removedMessage(phone: string): string;
	phoneMissing: string;
	reason: string;
}

export interface WebhookDialect {
	body(callId: string, record: JsonObject): JsonObject;
	headers(body: string): Record<string, string>;
	attempts: number;
	retryAfterMs: number;
	/** Statuses that count as received. */
	received(status: number): boolean;
}

export interface GeneralDialect {
	rateLimit: { perMinute: number; retryAfter: 'seconds' | 'date' } | null;
	tooManyBody: JsonObject;
	/** Header of every response with the API version. */
	versionHeader: string | null;
	/** Headers of the legacy endpoints. */
	legacyHeaders: Record<string, string>;
	maxMessage: number;
	maxContext: number;
	maxBodyBytes: number;
	/** A credential other than API-Token and the stream it may request. */
	otherCredential: { header: string; value: string; stream: string } | null;
	unknownPath: JsonObject;
	badJson: string;
}
