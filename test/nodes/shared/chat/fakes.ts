import { ServiceRejection } from '../../../../nodes/shared/api/errors';
import type { RejectionBody } from '../../../../nodes/shared/api/rejectionBody';
import { forEveryone } from '../../../../nodes/shared/api/resolution';
import type { Clock } from '../../../../nodes/shared/clock';
import { isJsonObject, type JsonObject, parseJson } from '../../../../nodes/shared/json';
import { ChatConnection, type ConnectionOptions } from '../../../../nodes/shared/chat/connection';
import type { WebSocketLike } from '../../../../nodes/shared/chat/socket';
import type { ChatEnded } from '../../../../nodes/shared/chat/reconnectPolicy';
import {
	type ChatEvent,
	type ClientFrame,
	idText,
	type OutgoingFrame,
} from '../../../../nodes/shared/chat/frames';
import type { WsToken } from '../../../../nodes/shared/chat/token';

/** Lets all pending promises settle. */
export async function settle(): Promise<void> {
	await new Promise((resolve) => {
		setImmediate(resolve);
	});
}

/** A clock that only moves when a test advances it. */
export class FakeClock implements Clock {
	readonly requested: number[] = [];

	private sleepers: Array<{ dueAt: number; resolve: () => void }> = [];

	constructor(private time = 1_700_000_000_000) {}

	now(): number {
		return this.time;
	}

	elapsed(): number {
		return this.time;
	}

	get pending(): number {
		return this.sleepers.length;
	}

	async sleep(ms: number): Promise<void> {
		this.requested.push(ms);
		await new Promise<void>((resolve) => {
			this.sleepers.push({ dueAt: this.time + ms, resolve });
		});
	}

	async advance(ms: number): Promise<void> {
		const end = this.time + ms;
		await settle();
		for (;;) {
			const next = Math.min(...this.sleepers.map(({ dueAt }) => dueAt));
			if (next > end) break;
			this.time = Math.max(this.time, next);
			const due = this.sleepers.filter(({ dueAt }) => dueAt <= next);
			this.sleepers = this.sleepers.filter(({ dueAt }) => dueAt > next);
			for (const { resolve } of due) resolve();
			await settle();
		}
		this.time = end;
	}
}

type SocketEvent = { data: unknown; code: number; reason: string };

export class FakeSocket implements WebSocketLike {
	binaryType: 'arraybuffer' | 'blob' = 'blob';
	readyState = 0;
	readonly sent: string[] = [];
	readonly closeCalls: Array<number | undefined> = [];
	/** The service never responds to a close. */
	deaf = false;
	/** Called with each sent frame, for services that respond synchronously. */
	onSend: ((text: string) => void) | null = null;
	private readonly listeners: Array<[string, (event: SocketEvent) => void]> = [];

	constructor(readonly url: string) {}

	addEventListener(type: string, listener: (event: SocketEvent) => void): void {
		this.listeners.push([type, listener]);
	}

	send(text: string): void {
		this.sent.push(text);
		this.onSend?.(text);
	}

	close(code?: number): void {
		this.closeCalls.push(code);
		if (this.readyState === 3) return;
		this.readyState = 2;
		if (!this.deaf) this.ends(code ?? 1005);
	}

	opens(): void {
		this.readyState = 1;
		this.fire('open');
	}

	ends(code: number, reason = ''): void {
		this.readyState = 3;
		this.fire('close', { code, reason });
	}

	/** Like a network failure: an error event, which some sockets throw without a listener, then a close event. */
	breaks(): void {
		if (!this.listeners.some(([listened]) => listened === 'error'))
			throw new Error('no error listener');
		this.fire('error');
		this.ends(1006);
	}

	receives(data: unknown): void {
		this.fire('message', { data });
	}

	get query(): URLSearchParams {
		return new URL(this.url).searchParams;
	}

	private fire(type: string, event: Partial<SocketEvent> = {}): void {
		for (const [listened, listener] of this.listeners) {
			if (listened === type) listener({ data: null, code: 0, reason: '', ...event });
		}
	}
}

export const SESSION_ID = '3b241101-e2bb-4255-8caf-4136c566a962';

export function eventFrame(
	type: string,
	eventId: unknown,
	payload: JsonObject = {},
	session_id: unknown = SESSION_ID,
): string {
	const fields = { session_id, account_id: 7, ts: '2026-01-01T00:00:00Z' };
	return JSON.stringify({ type, ...fields, event_id: eventId, payload });
}

export function ackFrame(payload: JsonObject, session_id: unknown = SESSION_ID): string {
	return JSON.stringify({ type: 'ws_write_result', session_id, account_id: 7, payload });
}

export const API_TOKEN = 'api-token-123456';

/** Like `ApiClient`. */
export const hideApiToken = (text: string): string => text.replaceAll(API_TOKEN, '[hidden]');

/** Options of a lease, without its callbacks. */
export const leaseOptions = {
	sessionId: SESSION_ID,
	baseUrl: 'https://api.example.com',
	account: 'account-1',
	instanceId: 'instance-1',
	usedBy: 'action' as const,
	disconnectOther: false,
	hideApiToken,
	log: { debug: () => {}, info: () => {}, warn: () => {} },
};

export const WS_URL = 'wss://stream.example.com/v1/chat/session/s-1/user-stream?shard=4';

/** The opened sockets, in order. */
export function fakeSockets(clock: FakeClock) {
	const sockets: FakeSocket[] = [];
	/** The latest one. */
	const socket = (): FakeSocket => {
		const latest = sockets.at(-1);
		if (latest === undefined) throw new Error('no socket was opened');
		return latest;
	};
	/** Opens the latest socket and waits until it's ready. */
	const connect = async (): Promise<void> => {
		await settle();
		socket().opens();
		await clock.advance(600);
	};
	const openSocket = (url: string): FakeSocket => {
		sockets.push(new FakeSocket(url));
		return socket();
	};
	return { sockets, socket, connect, openSocket };
}

/** A connection with a fake service and clock. `mint` gets the number of the request, from 1. */
export function chatConnectionHarness(
	{
		disconnectOther = false,
		...options
	}: Partial<ConnectionOptions> & { disconnectOther?: boolean } = {},
	mint?: (n: number) => Promise<WsToken>,
) {
	const clock = new FakeClock();
	const { openSocket, ...sockets } = fakeSockets(clock);
	const events: ChatEvent[] = [];
	const endings: ChatEnded[] = [];
	/** Reported while the connection keeps trying. */
	const failures: ChatEnded[] = [];
	const logged: Array<[string, Record<string, unknown> | undefined]> = [];
	let mints = 0;
	const log = (message: string, details?: Record<string, unknown>) => {
		logged.push([message, details]);
	};
	const connection = new ChatConnection({
		sessionId: SESSION_ID,
		baseUrl: 'https://api.example.com',
		clientId: 'client-1',
		mayDisconnectOther: () => disconnectOther,
		mintToken: async () => {
			mints += 1;
			return await (mint ?? freshToken)(mints);
		},
		hideApiToken,
		openSocket,
		clock,
		random: () => 0.5,
		log: { debug: log, info: log, warn: log },
		onFailed: (ending) => failures.push(ending),
		onEnded: (ending) => endings.push(ending),
		...options,
	});
	connection.subscribe((event) => {
		events.push(event);
	});
	return { clock, ...sockets, events, endings, failures, logged, mints: () => mints, connection };
}

/** A token request that the service rejects, because the session is closed. */
export function closedSession(): ServiceRejection {
	const rejection: RejectionBody = { code: 'session_closed', texts: ['session_closed'], body: {} };
	return new ServiceRejection(
		{ message: 'closed', resolution: forEveryone('Go on.') },
		'session_closed',
		409,
		rejection,
	);
}

export type ChatHarness = ReturnType<typeof chatConnectionHarness>;

/** A connected session. */
export async function connected(...options: Parameters<typeof chatConnectionHarness>) {
	const harness = chatConnectionHarness(...options);
	harness.connection.start();
	await harness.connect();
	return harness;
}

export async function freshToken(n: number): Promise<WsToken> {
	return await Promise.resolve({ token: `secret-${n}`, ws_url: WS_URL });
}

/** A message as Chat Send sends it. */
export function messageFrame(content: string, key?: string): ClientFrame {
	return { type: 'message', content, ...(key !== undefined && { idempotency_key: key }) };
}

/** The `message_id` of a sent frame. */
export function messageIdOf(text = ''): string {
	const frame = parseJson(text);
	return (isJsonObject(frame) && idText(frame.message_id)) || '';
}

let frameCount = 0;

/** A frame of a new message. */
export function outgoing(text: string): OutgoingFrame {
	frameCount += 1;
	const name = `n8n-frame-${frameCount}`;
	return { text, messageId: name };
}

/** The ack of a turn that completed inline. */
export const messageSent = ackFrame({ state: 'default', reply: 'hello', turn_id: 't-1' });
