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
	/** How long and how many recent events a reconnect is given again; the dialect's when left out. */
	replayWindowMs?: number;
	replayMaxEvents?: number;
	/** Time between an asynchronous message and its reply. */
	asyncReplyMs?: number;
	/** How events write their `ts`; the dialect's form when left out. */
	eventTime?: keyof typeof EVENT_TIMES;
	/** A request that comes sooner after the last one that was taken is answered with 429 and `Retry-After: 1`. */
	minGapMs?: number;
}

export interface SimulatorOptions extends Settings {
	dialect: Dialect;
	port?: number;
	/** 16 characters. */
	token?: string;
	/** False keeps request bodies out of the record, for long benchmarks. */
	keepBodies?: boolean;
	/** Keeps the beginning of each response, for the page. */
	keepAnswers?: boolean;
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
	readonly keepsAnswers: boolean;
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
		this.keepsAnswers = options.keepAnswers ?? false;
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

	/** A credential other than the API token, where the dialect has one. */
	otherCredential(headers: Record<string, string | string[] | undefined>): boolean {
		const other = this.dialect.general.otherCredential;
		return other !== null && headers[other.header] === other.value;
	}

	/** Counts a request and says whether it is one too many. */
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
