import { type Clock, deferred, whenAborted } from '../clock';
import { KeyedMutex } from '../keyedMutex';
import type { AckResult, AckWaiter, NotReady, Readiness } from './ackWaiter';
import type { ChatEnded } from './endings';
import { ManagedSocket } from './managedSocket';
import type { AttemptEnd, EndingKind } from './reconnectPolicy';
import type { OutgoingFrame } from './sentFrames';
import type { SocketRotation } from './socketRotation';

export interface SenderOptions {
	clock: Clock;
	rotation: SocketRotation;
	ackWaiter: AckWaiter;
	/** Resolves when the session is connected, when it never will be, or when `signal` is aborted. */
	ready: (signal: AbortSignal) => Promise<Readiness>;
	/** Why the session isn't connected and never will be. */
	unavailable: () => NotReady;
	/** Null unless the session is closed. Then nothing more is sent, although the connection can still be open. */
	sessionClosed: () => NotReady | null;
	describe: (why: EndingKind, attempt: AttemptEnd) => ChatEnded;
}

/** Sends the frames of a session one at a time, each on the socket that is open then. */
export class FrameSender {
	private readonly mutex = new KeyedMutex();

	constructor(private readonly options: SenderOptions) {}

	/** See `TurnLink`. */
	async acquireSend(signal: AbortSignal): Promise<() => void> {
		return await this.mutex.acquire('send', signal);
	}

	/** See `ChatConnection`. */
	async sendWithAck(
		frame: OutgoingFrame,
		timeoutMs: number,
		signal: AbortSignal,
	): Promise<AckResult> {
		const { ackWaiter, unavailable } = this.options;
		const result = deferred<AckResult>();
		let sent = false;
		void whenAborted(signal).then(() => {
			if (sent) ackWaiter.giveUp(frame);
			result.resolve(sent ? { kind: 'aborted' } : { kind: 'not_sent', readiness: unavailable() });
		});
		void this.mutex.acquire('frame', signal).then(async (release) => {
			const onSent = () => {
				sent = true;
			};
			const ackResult = await this.sendNow(frame, timeoutMs, signal, onSent);
			result.resolve(ackResult);
			release();
		});
		return await result.promise;
	}

	private async sendNow(
		frame: OutgoingFrame,
		timeoutMs: number,
		signal: AbortSignal,
		onSent: () => void,
	): Promise<AckResult> {
		const { clock, rotation, ackWaiter, ready, unavailable, sessionClosed, describe } =
			this.options;
		const isAborted = () => signal.aborted;
		let waitUntil: number | null = null;
		for (;;) {
			const readiness = await ready(signal);
			if (readiness.kind !== 'open') return { kind: 'not_sent', readiness };
			const closed = sessionClosed();
			if (closed !== null) return { kind: 'not_sent', readiness: closed };
			if (isAborted()) return { kind: 'not_sent', readiness: unavailable() };
			waitUntil ??= clock.elapsed() + timeoutMs;
			const socket = await rotation.socketFor(timeoutMs, waitUntil);
			// Aborted in the meantime: the sender already has the result `not_sent`.
			if (socket === null || isAborted()) continue;
			if (!(socket instanceof ManagedSocket)) {
				const why = socket.kind === 'mint' ? 'token_unavailable' : 'renewal_failed';
				return { kind: 'not_sent', readiness: { kind: 'ended', ending: describe(why, socket) } };
			}
			// A rotation has begun, so this socket is closing.
			if (socket !== rotation.socket) continue;
			const result = ackWaiter.write(socket, frame, timeoutMs);
			if (result !== null) {
				onSent();
				return this.withClosedSession(await result);
			}
			// The socket is closing.
			await socket.ended;
		}
	}

	private withClosedSession(result: AckResult): AckResult {
		const isMissing = result.kind === 'lost' || result.kind === 'no_ack';
		const isClosed = isMissing && this.options.sessionClosed() !== null;
		return isClosed ? { kind: 'session_closed' } : result;
	}
}
