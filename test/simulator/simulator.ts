import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { AutoDial } from './calls/autoDial';
import type { AutoComplete, CallOutcome, DeliveryOptions } from './calls/completions';
import { controlRoutes } from './control/routes';
import type { Clock } from './clock';
import type { Dialect } from './dialects';
import type { Faults } from './http/faults';
import { OpenSockets } from './http/openSockets';
import { createServer } from './http/server';
import type { RecordedRequest, Stats } from './http/requestLog';
import { serviceRoutes } from './routes';
import { digitsOf } from './rules/phone';
import { SessionControl } from './socket/sessionControl';
import { attachSockets } from './socket/upgrade';
import { addAttempt, changeCampaign, completeUpload } from './state/campaignControl';
import type { ListChanges } from './state/listChanges';
import type { State } from './state/store';
import type { Call, CampaignStatus, Delivery, StoredContact } from './state/types';
import { SimulatorState, type Settings, type SimulatorOptions } from './world';

/** The running service, with controls for tests. */
export class Simulator {
	readonly baseUrl: string;
	readonly token: string;
	readonly dialect: Dialect;
	readonly state: State;
	readonly clock: Clock;
	readonly faults: Faults;
	readonly listChanges: ListChanges;
	readonly sessions: SessionControl;

	constructor(
		private readonly world: SimulatorState,
		private readonly app: FastifyInstance,
		private readonly connections: OpenSockets,
	) {
		this.baseUrl = world.baseUrl;
		this.token = world.token;
		this.dialect = world.dialect;
		this.state = world.state;
		this.clock = world.clock;
		this.faults = world.faults;
		this.listChanges = world.listChanges;
		this.sessions = new SessionControl(world);
	}

	/** Every request received, oldest first. */
	get requests(): readonly RecordedRequest[] {
		return this.world.log.requests;
	}

	stats(): Stats {
		return this.world.log.stats();
	}

	/** Changes settings while it runs. `reset` keeps them. */
	configure(settings: Settings): void {
		Object.assign(this.world.settings, settings);
	}

	/** Holds back responses from now on. Requests still take effect. Returns a function that releases them. */
	holdResponses(path = /^/): () => void {
		let release = () => {};
		const released = new Promise<void>((resolve) => (release = resolve));
		this.world.held = { path, released };
		return release;
	}

	/** Finishes a call and delivers its webhook. Resolves when all deliveries have a response. */
	async completeCall(
		callId: string,
		outcome: CallOutcome = {},
		options: DeliveryOptions = {},
	): Promise<Delivery[]> {
		return await this.world.completions.complete(callId, outcome, options);
	}

	/** Finishes a call without delivering its webhook. */
	async endCall(callId: string, outcome: CallOutcome = {}): Promise<void> {
		await this.completeCall(callId, outcome, { deliverTimes: 0 });
	}

	/** Delivers the webhook of a call: again, forged, or to another URL. */
	async deliverWebhook(callId: string, options: DeliveryOptions = {}): Promise<Delivery[]> {
		return await this.world.completions.deliverWebhook(callId, options);
	}

	setAutoComplete(auto: AutoComplete | null): void {
		this.world.completions.setAuto(auto);
	}

	/** Active campaigns call their released contacts. Null stops them. */
	setAutoDial(auto: AutoDial | null): void {
		this.world.autoDialer.set(auto);
	}

	changeCampaign(id: number, status: Exclude<CampaignStatus, 'Draft'>): void {
		changeCampaign(this.state, this.dialect, id, status);
	}

	/** Marks the queues of a contact list as completed. */
	completeUpload(uploadId: number): void {
		completeUpload(this.state, uploadId);
	}

	/** Adds an attempt of a campaign, and returns its call ID. */
	addAttempt(campaignId: number, status: string): string {
		return addAttempt(this.state, campaignId, status);
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

	/** Restores the initial state, without requests, faults, timers, or sockets. */
	reset(): void {
		this.world.reset();
	}

	async stop(): Promise<void> {
		this.world.reset();
		this.connections.destroy();
		await this.app.close();
	}
}

export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
	const world = new SimulatorState(options);
	const app = createServer(world, serviceRoutes(world), controlRoutes(world));
	const connections = new OpenSockets(app.server, () => world.log.socketOpened());
	attachSockets(world, app.server);
	await app.listen({ host: '127.0.0.1', port: options.port ?? 0, backlog: 4096 });
	const address: AddressInfo | string | null = app.server.address();
	if (address === null || typeof address === 'string') throw new Error('The simulator has no port');
	world.baseUrl = `http://127.0.0.1:${address.port}`;
	return new Simulator(world, app, connections);
}
