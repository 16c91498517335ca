import type { JsonObject } from '../json';
import type { Session } from '../chat/types';

export interface ChatDialect {
	openState: string;
	/** Create request: names of the body fields, and the response. */
	create: { agent: string; person: string; metadata: string };
	createBody(session: JsonObject): JsonObject;
	/** Names of values that are sent in the query. */
	inQuery?: readonly string[];
	inbound: InboundFields;
	async: InboundFields;
	/** The response to a synchronous message. */
	inboundBody(result: JsonObject): JsonObject;
	/** The immediate response to an asynchronous message. */
	asyncBody(result: AcceptedMessage): JsonObject;
	/** Source of the chat delivery URL. */
	deliveryUrl: { from: 'dashboard' | 'session' | 'message'; field: string };
	deliveryBody(reply: DeliveredReply): JsonObject;
	commands: {
		takeOver: string;
		release: string;
		/** A hint to the AI, which is rejected during a take-over. */
		tell: string;
		/** A message of the human operator to the customer. */
		say: string;
		text: string;
	};
	supportBody(command: string, session: Session): JsonObject;
	rejectionText(command: string): string;
	initialContext(agentName: string): string;
	streamText: string;
	/** `error` for a session that does not exist. */
	unknownSession: string;
	/** `error` for a message to a closed session. */
	closedText: string;
	messageId(counter: number): string | number;
	turnId(counter: number): string;
	/** An outgoing interactive message. */
	interactive(id: string, text: string, options: string[]): JsonObject;
	/** Whether a message ID of the client is returned instead of the service's own. */
	echoesMessageId: boolean;
	/** Whether the ack of a merged message names its own turn beside the one it was merged into. */
	mergedNamesOwnTurn: boolean;
	reactivatedReason: string;
	autoResumeReason: string;
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

export interface AcceptedMessage {
	turnId: string;
	messageId: string | number;
	replay: boolean;
}

export interface DeliveredReply {
	sessionId: string;
	turnId: string;
	messageId: string | number;
	reply: string | null;
	state: string;
}

export interface SocketDialect {
	/** Query that ws_url already has. */
	urlQuery: string;
	accountId(id: number): string | number;
	ts(ms: number): string | number;
	eventId(counter: number): string;
	/** Order of a reply outside the ack and its turn_result. */
	replyText: 'before' | 'after' | 'nowhere';
	/** Which message the `message_id` of a turn_result names. */
	resultNames: 'customer' | 'agent';
	/** Which turn the turn_result of a merged message names. */
	mergedResult: 'target' | 'own' | 'both';
	ackBeforeEvents: boolean;
	socketEndsWithToken: boolean;
	replay: { windowMs: number; maxEvents: number; onFirstConnect: boolean };
	takeOverCode: number;
	sameClientTwice: 'replaced' | 'both' | 'rejected';
	replacedCode: number;
	closeReason(word: string): string;
	afterClosed: 'closes' | 'staysOpen';
	closedSessionCode: number | null;
	unusualEvent: { type: string; payload: JsonObject };
	unusualCloseCode: number;
}
