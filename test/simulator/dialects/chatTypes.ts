import type { JsonObject } from '../json';
import type { Session } from '../chat/types';

export interface ChatDialect {
	openState: string;
	/** Create request: names of the body fields, and what the answer looks like. */
	create: { agent: string; person: string; metadata: string };
	createBody(session: JsonObject): JsonObject;
	/** Names whose values are carried in the query. */
	inQuery?: readonly string[];
	inbound: InboundFields;
	async: InboundFields;
	/** The answer to a synchronous message. */
	inboundBody(result: JsonObject): JsonObject;
	/** The immediate answer to an asynchronous message. */
	asyncBody(result: AcceptedMessage): JsonObject;
	/** Where the service reads the chat delivery address from. */
	deliveryUrl: { from: 'dashboard' | 'session' | 'message'; field: string };
	deliveryBody(reply: DeliveredReply): JsonObject;
	commands: {
		takeOver: string;
		release: string;
		/** A hint to the AI, which is rejected during a take-over. */
		tell: string;
		/** A line of the human operator to the customer. */
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
	/** Whether a message id sent by the client is given back in place of the service's own. */
	echoesMessageId: boolean;
	/** Whether the ack of a merged message names its own turn beside the one it was merged into. */
	mergedNamesOwnTurn: boolean;
	reactivatedReason: string;
	autoResumeReason: string;
}

/** Names of the body fields of a message; `idempotency_key` is documented. */
export interface InboundFields {
	session: string;
	/** Names the agent where no session is given: one is then resolved or created. */
	agent: string;
	/** Tells the customers of an agent apart. */
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
	/** Query of its own in ws_url. */
	urlQuery: string;
	accountId(id: number): string | number;
	ts(ms: number): string | number;
	eventId(counter: number): string;
	/** Where the text of a reply outside the own ack stands in relation to its turn_result. */
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
