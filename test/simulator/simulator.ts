import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { isOwnName } from '../n8n/ports';
import { AutoDialer, type AutoDial } from './calls/autoDial';
import {
	Completions,
	type AutoComplete,
	type CallOutcome,
	type DeliveryOptions,
} from './calls/completions';
import { ChatEngine } from './chat/engine';
import { Clock } from './clock';
import type { Dialect } from './dialects';
import { Faults } from './http/faults';
import { bytesOf, type SimulatorRequest, type SimulatorResponse } from './http/route';
import { RequestLog, type RecordedRequest } from './http/requestLog';
import { createServer } from './http/server';
import { digitsOf } from './rules/phone';
import { SocketHub } from './socket/hub';
import { SessionControl } from './socket/sessionControl';
import { attachSockets } from './socket/upgrade';
import { seed } from './state/seed';
import {
	State,
	type Call,
	type CampaignStatus,
	type Delivery,
	type StoredContact,
} from './state/state';

/** Settings that can change while the simulator runs. */
export interface Settings {
	/** Delay of every response. */
	latencyMs?: number;
	/** The age and number of events that a reconnect gets again. */
	replayWindowMs?: number;
	replayMaxEvents?: number;
}

export interface SimulatorOptions extends Settings {
	dialect: Dialect;
	port?: number;
	/** Default: 127.0.0.1. */
	host?: string;
	/** 16 characters. */
	token?: string;
	/** Reads requests of another form than the dialect's. Throws if a request doesn't have it. */
	read?: (operationId: string, request: SimulatorRequest) => SimulatorRequest;
	/** Whether to record request bodies. False for long benchmarks. */
	keepBodies?: boolean;
	/** Whether to keep the beginning of each response, for the page. */
	keepResponses?: boolean;
}

/** The running service: its data, its parts, and controls for tests. */
export class Simulator {
	readonly dialect: Dialect;
	/** A test may change it, as a person does who gets a new one. */
	token: string;
	readonly keepsResponses: boolean;
	readonly read: NonNullable<SimulatorOptions['read']>;
	readonly settings: Settings;
	readonly clock = new Clock();
	readonly state = new State();
	readonly faults = new Faults();
	readonly log: RequestLog;
	readonly completions = new Completions(this);
	readonly autoDialer = new AutoDialer(this);
	readonly hub = new SocketHub(this);
	readonly chat = new ChatEngine(this);
	readonly sessions = new SessionControl(this);
	/** Responses that a test holds back. */
	held: { path: RegExp; released: Promise<void> } | null = null;
	/** Changes the bytes of a response or frame, and the status of a response. */
	tamper: ((bytes: Buffer) => { bytes: Buffer; status?: number | undefined }) | null = null;
	baseUrl = '';
	/** IDs of the calls and chat sessions that were there at the start. */
	private seeded = new Set<string>();
	private readonly host: string;
	private readonly app: FastifyInstance;
	/** Every TCP connection, including hung and upgraded ones, so that stopping closes all. */
	private readonly connections = new Set<Socket>();

	constructor(options: SimulatorOptions) {
		this.dialect = options.dialect;
		this.host = options.host ?? '127.0.0.1';
		this.token = options.token ?? 'simulator-token1';
		if (this.token.length !== 16) throw new Error('The token must have 16 characters');
		this.settings = { ...options };
		this.keepsResponses = options.keepResponses ?? false;
		this.read = options.read ?? ((_operationId, request) => request);
		this.log = new RequestLog(options.keepBodies ?? true);
		this.seed();
		this.app = createServer(this);
		this.app.server.on('connection', (socket: Socket) => {
			this.connections.add(socket);
			socket.on('close', () => this.connections.delete(socket));
		});
		attachSockets(this, this.app.server);
	}

	/** At an address of this machine that others can reach, its names aren't known here. */
	isFor({ host }: IncomingHttpHeaders): boolean {
		return this.host !== '127.0.0.1' || isOwnName(host);
	}

	async listen(port: number): Promise<void> {
		await this.app.listen({ host: this.host, port, backlog: 4096 });
		const address: AddressInfo | string | null = this.app.server.address();
		if (address === null || typeof address === 'string') {
			throw new Error('The simulator has no port');
		}
		this.baseUrl = `http://${this.host}:${address.port}`;
	}

	/** Every request received, oldest first. */
	get requests(): readonly RecordedRequest[] {
		return this.log.requests;
	}

	stats() {
		return this.log.stats();
	}

	/** Changes settings while it runs. `reset` keeps them. */
	configure(settings: Settings): void {
		Object.assign(this.settings, settings);
	}

	/** Holds back responses from now on. Requests still take effect. Returns a function that releases them. */
	holdResponses(path = /^/): () => void {
		let release = () => {};
		const released = new Promise<void>((resolve) => (release = resolve));
		this.held = { path, released };
		return release;
	}

	tampered(sent: SimulatorResponse): SimulatorResponse {
		if (this.tamper === null) return sent;
		const { bytes, status = sent.status } = this.tamper(bytesOf(sent.body));
		return { ...sent, status, body: bytes };
	}

	/** Finishes a call and delivers its webhook. Resolves when all deliveries have a response. */
	async completeCall(
		callId: string,
		outcome: CallOutcome = {},
		options: DeliveryOptions = {},
	): Promise<Delivery[]> {
		return await this.completions.complete(callId, outcome, options);
	}

	/** Finishes a call without delivering its webhook. */
	async endCall(callId: string, outcome: CallOutcome = {}): Promise<void> {
		await this.completeCall(callId, outcome, { deliverTimes: 0 });
	}

	/** Delivers the webhook of a call: again, forged, or to another URL. */
	async deliverWebhook(callId: string, options: DeliveryOptions = {}): Promise<Delivery[]> {
		return await this.completions.deliverWebhook(callId, options);
	}

	setAutoComplete(auto: AutoComplete | null): void {
		this.completions.setAuto(auto);
	}

	/** Active campaigns call their released contacts. Null stops them. */
	setAutoDial(auto: AutoDial | null): void {
		this.autoDialer.set(auto);
	}

	changeCampaign(id: number, status: CampaignStatus): void {
		const campaign = this.state.campaigns.get(id);
		if (!campaign) throw new Error(`The simulator has no campaign ${id}`);
		campaign.status = status;
	}

	/** Marks the queues of a contact list as completed. */
	completeUpload(uploadId: number): void {
		const uploads = [...this.state.campaigns.values()].flatMap((campaign) => campaign.uploads);
		const upload = uploads.find(({ id }) => id === uploadId);
		if (!upload) throw new Error(`The simulator has no contact list ${uploadId}`);
		for (const queue of upload.queues) queue.completed = true;
	}

	/** Adds an attempt of a campaign, as the calling engine would, and returns its call ID. */
	addAttempt(campaignId: number, status: string): string {
		const model = [...this.state.calls.values()].find((call) => call.campaignId === campaignId);
		if (!model) throw new Error(`Campaign ${campaignId} has no calls to take after`);
		const callId = randomUUID();
		const outcome = { ...model.outcome, status };
		this.state.calls.set(callId, { ...model, callId, request: null, outcome, deliveries: [] });
		return callId;
	}

	/** Calls placed through the API, oldest first. */
	placedCalls(): Call[] {
		return [...this.state.calls.values()].filter((call) => call.request !== null);
	}

	/** How often a number was called through the API, in national or international form. */
	callsTo(phone: string): number {
		const digits = digitsOf(phone);
		return this.placedCalls().filter((call) => call.phone.endsWith(digits)).length;
	}

	contactsOf(campaignId: number): StoredContact[] {
		return this.state.campaigns.get(campaignId)?.contacts ?? [];
	}

	isSeeded(id: string): boolean {
		return this.seeded.has(id);
	}

	/** Restores the initial state, without requests, faults, timers, or sockets. */
	reset(): void {
		this.completions.reset();
		this.autoDialer.set(null);
		this.hub.reset();
		this.chat.reset();
		this.faults.clear();
		this.log.reset();
		this.clock.reset();
		this.held = null;
		this.tamper = null;
		this.state.clear();
		this.seed();
	}

	async stop(): Promise<void> {
		this.reset();
		for (const socket of this.connections) socket.destroy();
		await this.app.close();
	}

	private seed(): void {
		const { calls, sessions } = this.state;
		seed(this.state, this.clock.now());
		this.seeded = new Set([...calls.keys(), ...sessions.keys()]);
	}
}

export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
	const simulator = new Simulator(options);
	await simulator.listen(options.port ?? 0);
	return simulator;
}
