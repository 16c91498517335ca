import { isSameId } from '../service/envelope';
import { errorText, isRejection } from '../service/errors';
import { withoutSecret } from '../service/secrets';
import { type Clock, DONE, pause, whenAborted } from '../values/clock';
import { ConnectionUser, type UserOptions } from './connectionUser';
import { ACK_TYPE, parseFrame } from './frames';
import {
	type AttemptEnd,
	delayMs,
	describeEnding,
	type Ending,
	HEALTHY_AFTER_MS,
	nextStep,
} from './reconnectPolicy';
import { Sender } from './sender';
import { Socket } from './socket';
import { type MintedToken, renewAfterMs, socketUrl, TOKEN_RETRY_MS } from './token';

/** How long to accept events after `session_closed`. Then the service issues no token for the next socket. */
const SESSION_CLOSED_LINGER_MS = 2_000;

/** Tokens to hide in texts of the service. All but the newest few have expired. */
const MAX_ISSUED = 10;

/** What is the same for all users of a connection. */
interface ConnectionOptions {
	sessionId: string;
	/** From the credential. Decides whether unencrypted `ws:` is acceptable. */
	baseUrl: string;
	/** Hides the API token of the account in a text. */
	hideApiToken: (text: string) => string;
	log: (level: 'debug' | 'info' | 'warn', message: string, details?: object) => void;
	clock: Clock;
	/** Resolves when the previous connection to the session has closed, because the service may reject two sockets. */
	admitted: Promise<unknown> | undefined;
}

/**
 * Keeps one session connected for its users: token, socket, events, and reconnects, until the session is closed, the
 * service rejects the connection for good, or the last user has left. One loop (`run`) owns the life cycle. No method throws
 * or rejects.
 *
 * The protocol has no ping, so a connection that broke without notice is found only by replacing it. This happens before
 * the token expires: the next token is minted first, then the socket is closed and opened again at once, with the same
 * `client_id`. The document doesn't allow a second socket beside the first. The service replays what happens in between.
 */
export class ChatConnection {
	readonly sender: Sender;

	/** Resolves when the connection is stopped, and its socket has ended. */
	readonly closed: Promise<unknown>;

	private readonly users = new Set<ConnectionUser>();
	private readonly stop = new AbortController();
	/** Attempts in a row that failed. They decide when the next one follows. */
	private failures = 0;

	private token: MintedToken | null = null;
	/** The newest tokens, also of earlier sockets. */
	private issued: string[] = [];
	private socket: Socket | null = null;
	private clientId = '';
	private becameConnected: PromiseWithResolvers<void> = Promise.withResolvers();
	/** Ends the pause before the next attempt. */
	private wake = new AbortController();
	private mayClaim = true;

	constructor(private readonly options: ConnectionOptions) {
		this.sender = new Sender(this, options.clock);
		this.closed = whenAborted(this.signal).then(
			async () => await Promise.all([options.admitted, this.socket?.ended]),
		);
		void this.run();
	}

	// Users.

	/**
	 * Adds a user. If the session isn't connected, tries again now, with `claim=1` if a user allows it.
	 *
	 * @param clientId of the first user, and then of a trigger, because an action may have opened the connection
	 */
	join(options: UserOptions, clientId: string): ConnectionUser {
		const user = new ConnectionUser(this, options, this.options.clock);
		this.users.add(user);
		if (!this.isConnected) {
			this.mayClaim = true;
			this.failures = 0;
			this.wake.abort(DONE);
		}
		const isTrigger = options.usedBy === 'trigger';
		if (isTrigger || this.clientId === '') this.clientId = clientId;
		// The service replays only to a new socket what the trigger has missed.
		if (isTrigger && this.socket !== null) void this.replace(this.socket);
		return user;
	}

	/** Called by a user that leaves. The last one closes the connection. */
	leave(user: ConnectionUser): void {
		this.users.delete(user);
		if (this.users.size === 0) this.close();
	}

	// Connecting, one attempt after another.

	private get isConnected(): boolean {
		return this.socket?.isConnected === true;
	}

	/** Resolves with the socket once the session is connected, or with null when the signal of the user is aborted. */
	async connected(signal: AbortSignal): Promise<Socket | null> {
		while (!signal.aborted) {
			if (this.isConnected) return this.socket;
			await Promise.race([this.becameConnected.promise, whenAborted(signal)]);
		}
		return null;
	}

	private async run(): Promise<void> {
		const { clock, log, admitted } = this.options;
		await admitted;
		while (!this.isStopped()) {
			const attempt = await this.attempt();
			if (this.isStopped()) return;
			if (attempt === null || wasHealthy(attempt)) {
				this.failures = 0;
				for (const user of this.users) user.recovered();
			}
			if (attempt === null) continue;
			const [why, then] = nextStep(attempt);
			const ending = describeEnding(why, attempt, this.redact);
			if (then === 'end') {
				this.end(ending);
				return;
			}
			if (then === 'newToken') this.token = null;
			this.failures += 1;
			const isLasting = why !== 'unreachable' && this.failures > 1;
			const waitMs = delayMs(why, this.failures);
			this.wake = new AbortController();
			const { originalMessage = '' } = ending;
			log('info', 'Reconnecting to the chat session', { waitMs, originalMessage });
			for (const user of [...this.users]) user.failed(ending, isLasting);
			await pause(clock, waitMs, AbortSignal.any([this.signal, this.wake.signal]));
		}
	}

	/** Connects once: from the token to the end of the socket. Null if these nodes closed it, to connect again at once. */
	private async attempt(): Promise<AttemptEnd | null> {
		const { clock, baseUrl } = this.options;
		const { token: known } = this;
		let socket: Socket;
		try {
			const isKnown = known !== null && clock.elapsed() < known.renewAt;
			const token = isKnown ? known : await this.mint();
			this.signal.throwIfAborted();
			const claim = this.mayClaim && [...this.users].some(({ options }) => options.disconnectOther);
			const url = socketUrl({ token, baseUrl, clientId: this.clientId, claim });
			socket = new Socket(url, {
				clock,
				onFrame: (frame) => this.receive(frame, socket),
				onSettled: () => {
					// From now on it reconnects without a claim, so that two clients don't displace each other forever.
					this.mayClaim = false;
					this.becameConnected.resolve();
					this.becameConnected = Promise.withResolvers();
					void this.renew(socket, token);
				},
			});
			this.socket = socket;
		} catch (error) {
			return { error };
		}
		const end = await socket.ended;
		return socket.isClosing ? null : { end };
	}

	/** @throws what the request throws */
	private async mint(): Promise<MintedToken> {
		const { clock } = this.options;
		// A trigger outlives an execution. Requests of an action that left may be canceled.
		const users = [...this.users];
		const user = users.find(({ options }) => options.usedBy === 'trigger') ?? users.at(-1);
		if (user === undefined) throw new Error('All nodes have just left');
		const requestedAt = clock.elapsed();
		// Repeating the request is safe, because customers don't notice it.
		const issued = await user.options.mintToken();
		const token = { ...issued, renewAt: requestedAt + renewAfterMs() };
		this.token = token;
		this.issued = [...this.issued, token.token].slice(-MAX_ISSUED);
		return token;
	}

	/** Replaces a socket before its token expires. */
	private async renew(socket: Socket, { renewAt }: MintedToken): Promise<void> {
		const { clock, log } = this.options;
		let waitMs = renewAt - clock.elapsed();
		while (await pause(clock, waitMs, socket.signal)) {
			try {
				await this.mint();
				// No ack of an earlier frame arrives that late.
				this.sender.forgetEarlier();
				await this.replace(socket);
			} catch (error) {
				waitMs = TOKEN_RETRY_MS;
				if (isRejection(error, 'session_closed')) {
					await this.endClosedSession(socket);
				} else {
					const reason = this.redact(errorText(error));
					log('warn', "The token of a chat session couldn't be renewed yet", { reason });
				}
			}
		}
	}

	/** Closes a socket between two messages. The next one follows at once. */
	private async replace(socket: Socket): Promise<void> {
		const release = await this.sender.hold(socket.signal);
		socket.close();
		release();
	}

	// Receiving.

	private receive(frame: unknown, socket: Socket): void {
		const ignored = (what: string) => this.options.log('debug', `The chat session ignored ${what}`);
		const event = parseFrame(typeof frame === 'string' ? this.redact(frame) : frame);
		if (event === null) {
			ignored("a frame that can't be read");
		} else if (!isSameId(event.session_id, this.options.sessionId)) {
			ignored('a frame of another session');
		} else if (event.type === ACK_TYPE) {
			if (!this.sender.receive(event.payload)) ignored('an ack that nobody waits for');
		} else {
			// Also if it's replayed.
			for (const user of [...this.users]) user.options.onEvent?.(event);
			if (event.type === 'session_closed') void this.endClosedSession(socket);
		}
	}

	// Ending.

	/** An agent can close the session during its last turn, whose ack may still come. */
	private async endClosedSession(socket: Socket): Promise<void> {
		await pause(this.options.clock, SESSION_CLOSED_LINGER_MS, socket.signal);
		this.token = null;
		await this.replace(socket);
	}

	private end(ending: Ending): void {
		const { message, originalMessage = '' } = ending;
		this.options.log('warn', message, { originalMessage });
		this.close();
		for (const user of [...this.users]) user.end(ending);
	}

	private close(): void {
		this.stop.abort(DONE);
		this.socket?.close();
	}

	/** Whether it has ended for good, or has no users. Nobody may join anymore. */
	isStopped(): boolean {
		return this.signal.aborted;
	}

	private get signal(): AbortSignal {
		return this.stop.signal;
	}

	/** A text of the service without the API token and the session's WebSocket tokens. */
	private readonly redact = (text: string): string =>
		this.issued.reduce(
			(shown, token) => withoutSecret(shown, token),
			this.options.hideApiToken(text),
		);
}

function wasHealthy(attempt: AttemptEnd): boolean {
	return 'end' in attempt && attempt.end.openForMs >= HEALTHY_AFTER_MS;
}
