import { randomUUID } from 'crypto';
import { fingerprint } from '../values/hash';
import { KeyedMutex } from '../values/keyedMutex';
import { ChatConnection, type ConnectionOptions } from './connection';
import type { ConnectionUser, UserOptions } from './connectionUser';
import { sessionKey } from './parseChatFields';

type Session = Pick<ConnectionOptions, 'sessionId' | 'baseUrl' | 'hideApiToken' | 'log'> & {
	/** Identifies the account: a fingerprint of the API token, never the token itself. */
	account: string;
	/** Instance ID of n8n. Part of the `client_id`. */
	instanceId: string;
};

/**
 * The chat connections of one n8n process: one per session, which all nodes, workflows, and executions share. A connection
 * lasts while it has a user, and half a second longer after an action.
 *
 * A connection keeps its `client_id` when it reconnects, as the document asks. In the process of the published triggers, all
 * connections have an ID that stays the same when n8n restarts, also those that an action opens, so that the service knows
 * which events a trigger missed. Other processes (workers in queue mode) have their own, so that the service rejects them.
 * With the same ID, it might treat a worker as a reconnect of the trigger, and the two would displace each other.
 */
export class ChatConnections {
	private readonly connections = new Map<string, ChatConnection>();

	/** The service may reject two sockets of one client, so the previous one must close first. */
	private readonly sockets = new KeyedMutex();

	private readonly processId = randomUUID();

	/** The published triggers of this process, also those without a session. */
	private readonly publishedTriggers = new Set<object>();

	constructor(private readonly parts: Pick<ConnectionOptions, 'openSocket' | 'clock' | 'random'>) {}

	/** @returns a function to call when the trigger has closed */
	addPublishedTrigger(trigger: object): () => void {
		this.publishedTriggers.add(trigger);
		return () => this.publishedTriggers.delete(trigger);
	}

	/** Joins the connection of the session, or opens it. */
	join(session: Session, options: UserOptions): ConnectionUser {
		const { baseUrl, account, sessionId, instanceId } = session;
		const key = fingerprint([baseUrl, account, sessionKey(sessionId)]);
		const owner = this.publishedTriggers.size > 0 ? 'triggers' : this.processId;
		const clientId = `n8n-${fingerprint([instanceId, owner, key]).slice(0, 32)}`;
		const connection = this.connections.get(key) ?? this.open(key, session, clientId);
		return connection.join(options, clientId);
	}

	private open(key: string, session: Session, clientId: string): ChatConnection {
		const admitted = this.sockets.acquire(key);
		const connection = new ChatConnection({
			...this.parts,
			...session,
			clientId,
			admitted,
			onClosing: (closed) => {
				this.connections.delete(key);
				void Promise.all([admitted, closed]).then(([release]) => release());
			},
		});
		this.connections.set(key, connection);
		return connection;
	}
}
