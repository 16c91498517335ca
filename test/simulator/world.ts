import { AutoDialer } from './calls/autoDial';
import { ChatEngine } from './chat/engine';
import { Completions } from './calls/completions';
import { Recordings } from './calls/recordings';
import { SocketTokens } from './chat/tokens';
import { Clock, istTimestamp } from './clock';
import type { Dialect } from './dialects';
import { Faults } from './http/faults';
import { RequestLog } from './http/requestLog';
import { SocketHub } from './socket/hub';
import { seed } from './state/seed';
import { ListChanges } from './state/listChanges';
import { State } from './state/store';

/** Forms of `ts`, which the document calls "ISO 8601 strings, usually with a UTC offset". */
export const EVENT_TIMES = {
	offset: istTimestamp,
	noOffset: (ms: number) => istTimestamp(ms).slice(0, -6),
	number: (ms: number) => ms,
	seconds: (ms: number) => String(ms / 1000),
};

/** Settings that can change while the simulator runs. */
export interface Settings {
	/** Delay of every response. */
	latencyMs?: number;
	/** Lifetime of a WebSocket token. Default: the documented 5 minutes. */
	wsTokenLifetimeMs?: number;
	/** The age and number of events that a reconnect gets again. Default: those of the dialect. */
	replayWindowMs?: number;
	replayMaxEvents?: number;
	/** Time between an asynchronous message and its reply. */
	asyncReplyMs?: number;
	/** The form of `ts` in events. Default: that of the dialect. */
	eventTime?: keyof typeof EVENT_TIMES;
	/** Time after an accepted request in which others get 429 with `Retry-After: 1`. */
	minGapMs?: number;
}

export interface SimulatorOptions extends Settings {
	dialect: Dialect;
	port?: number;
	/** 16 characters. */
	token?: string;
	/** Whether to record request bodies. False for long benchmarks. */
	keepBodies?: boolean;
	/** Whether to keep the beginning of each response, for the page. */
	keepResponses?: boolean;
}

/** What the parts of the simulator share. */
export class SimulatorState {
	readonly dialect: Dialect;
	readonly token: string;
	readonly clock = new Clock();
	readonly state = new State();
	readonly faults = new Faults();
	readonly log: RequestLog;
	readonly completions: Completions;
	readonly autoDialer: AutoDialer;
	readonly recordings: Recordings;
	readonly hub: SocketHub;
	readonly chat: ChatEngine;
	readonly tokens: SocketTokens;
	readonly listChanges: ListChanges;
	readonly keepsResponses: boolean;
	settings: Settings;
	/** IDs of the calls and chat sessions that were there at the start. */
	private seeded = new Set<string>();
	/** Responses that a test holds back. */
	held: { path: RegExp; released: Promise<void> } | null = null;
	baseUrl = '';
	private rate = { minute: 0, count: 0 };
	private takenAt = -Infinity;

	constructor(options: SimulatorOptions) {
		this.dialect = options.dialect;
		this.token = options.token ?? 'simulator-token1';
		if (this.token.length !== 16) throw new Error('The token must have 16 characters');
		this.settings = { ...options };
		this.keepsResponses = options.keepResponses ?? false;
		this.log = new RequestLog(options.keepBodies ?? true);
		this.completions = new Completions(this);
		this.autoDialer = new AutoDialer(this);
		this.recordings = new Recordings(this);
		this.hub = new SocketHub(this);
		this.chat = new ChatEngine(this);
		this.tokens = new SocketTokens(this);
		this.listChanges = new ListChanges(this.state, this.clock);
		this.seed();
	}

	tokenCheck(
		headers: Record<string, string | string[] | undefined>,
	): 'valid' | 'missing' | 'invalid' {
		if (this.otherCredential(headers)) return 'valid';
		const given = headers['api-token'];
		if (given === undefined || given === '') return 'missing';
		return given === this.token ? 'valid' : 'invalid';
	}

	/** Whether it has the other credential of the dialect, if there is one. */
	otherCredential(headers: Record<string, string | string[] | undefined>): boolean {
		const other = this.dialect.general.otherCredential;
		return other !== null && headers[other.header] === other.value;
	}

	/** Counts a request. Returns whether it exceeds the limit. */
	overRate(): boolean {
		const now = this.clock.now();
		if (now - this.takenAt < (this.settings.minGapMs ?? 0)) return true;
		this.takenAt = now;
		const limit = this.dialect.general.rateLimit;
		if (!limit) return false;
		const minute = Math.floor(now / 60_000);
		this.rate = this.rate.minute === minute ? this.rate : { minute, count: 0 };
		return ++this.rate.count > limit.perMinute;
	}

	reset(): void {
		this.completions.reset();
		this.autoDialer.reset();
		this.hub.reset();
		this.chat.reset();
		this.tokens.reset();
		this.faults.clear();
		this.listChanges.clear();
		this.takenAt = -Infinity;
		this.log.reset();
		this.clock.reset();
		this.held = null;
		this.state.clear();
		this.seed();
	}

	isSeeded(id: string): boolean {
		return this.seeded.has(id);
	}

	private seed(): void {
		const { state } = this;
		seed(state, this.dialect, this.clock.now());
		this.seeded = new Set([...state.calls.keys(), ...state.sessions.keys()]);
	}
}
