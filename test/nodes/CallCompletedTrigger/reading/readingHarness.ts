import { randomUUID } from 'node:crypto';
import type {
	IDataObject,
	INodeCredentialsDetails,
	Workflow,
	WorkflowActivateMode,
} from 'n8n-workflow';
import { z } from 'zod';
import { clock } from '../../../../nodes/shared/n8n/http/accountClient';
import { CREDENTIAL } from '../../../../nodes/shared/n8n/http/credential';
import { BoundedMap } from '../../../../nodes/shared/boundedMap';
import { credentialFor } from '../../../contract/credentialFor';
import {
	activate,
	callWebhook,
	ENDED,
	makeWorkflow,
	skipTime,
	speedUp,
	type ActiveWorkflow,
	type EngineHarness,
} from '../../../engine';
import { eventually } from '../../../n8n/until';
import { fixtures, startSimulator, type Dialect, type Simulator } from '../../../simulator';
import { seededCall } from '../../../simulator/state/seed';

const CAMPAIGN = fixtures.campaigns.active;

const HOUR_MS = 3_600_000;

let nodes = 0;

/** A published trigger that reads calls, and n8n's database. */
export class ReadingHarness {
	/** What n8n has stored. */
	stored: IDataObject = {};

	/** Keys of the executions that n8n keeps, with the calls that started them. */
	readonly executions = new Map<string, IDataObject>();

	/** Emissions, also those that n8n ignores because it knows their key. */
	emissions = 0;

	readonly failed: string[] = [];

	/** Whether n8n starts executions. */
	isStarting = true;

	/** Whether the executions end. Otherwise, they wait for n8n's limit of executions. */
	isEnding = true;

	private active: ActiveWorkflow | undefined;

	private workflow: Workflow | undefined;

	private credential: INodeCredentialsDetails | undefined;

	private readonly id = `reading-${++nodes}`;

	private constructor(
		private readonly harness: EngineHarness,
		readonly simulator: Simulator,
		private parameters: IDataObject,
	) {}

	/** Publishes the workflow, by default to read the campaign with seeded calls once a minute. */
	static async publish(
		harness: EngineHarness,
		simulator: Simulator,
		parameters: IDataObject = {},
	): Promise<ReadingHarness> {
		const reading = new ReadingHarness(harness, simulator, {
			getCalls: 'reading',
			callsOf: 'campaign',
			campaignId: String(CAMPAIGN),
			checkEvery: 1,
			...parameters,
		});
		speedUp(20_000);
		await reading.open('activate');
		return reading;
	}

	async node() {
		const details = (this.credential ??= await this.harness.addCredential(
			credentialFor(this.simulator),
		));
		return this.harness.node('callCompletedTrigger', {
			id: this.id,
			parameters: z.record(z.custom<string>()).parse(this.parameters),
			credentials: { [CREDENTIAL]: details },
			webhookId: 'hook',
		});
	}

	/** Starts n8n again after a crash, with what it had stored. */
	async restart(mode: WorkflowActivateMode = 'init', parameters: IDataObject = {}): Promise<void> {
		const { stored } = this;
		const emitted = new Map(this.executions);
		await this.stop();
		this.stored = stored;
		this.executions.clear();
		for (const [key, call] of emitted) this.executions.set(key, call);
		// A new process has no memory.
		jest.spyOn(BoundedMap.prototype, 'has').mockReturnValue(false);
		this.parameters = { ...this.parameters, ...parameters };
		await this.open(mode);
	}

	/** Selects another credential. It's used when the workflow is published again. */
	selectOtherCredential(): void {
		this.credential = undefined;
	}

	/** Publishes the workflow again in the same process. */
	async publishAgain(parameters: IDataObject = {}): Promise<void> {
		await this.stop();
		this.parameters = { ...this.parameters, ...parameters };
		await this.open('update');
	}

	/** Ends the process without closing anything. */
	async stop(): Promise<void> {
		await this.active?.stop();
		this.active = undefined;
	}

	/** Waits until a reading that begins now has ended, and n8n has its executions. */
	async read(readings = 1): Promise<void> {
		for (let reading = 0; reading < readings; reading++) {
			const after = this.readings;
			// The one in progress may have begun before.
			await eventually(() => this.readings >= after + 2);
		}
	}

	/** The calls that started the workflow, in any order. */
	get started(): string[] {
		return [...this.executions.values()].map(({ call_id: id }) => z.string().parse(id)).sort();
	}

	get requestsForCalls(): number {
		return this.simulator.requests.filter(({ path }) => path === '/v1/calls').length;
	}

	/** Reports a call by webhook. */
	async deliver(callId: string) {
		const node = await this.node();
		const request = { body: { call_id: callId } };
		const { credentials } = this.harness;
		const delivery = await callWebhook(credentials, makeWorkflow([node]), node, request);
		await delivery.answered;
		return delivery.response;
	}

	/** Adds a call in progress, and returns its ID. */
	addCall(fields: { uploadId?: number; createdAt?: number } = {}): string {
		const callId = randomUUID();
		const { uploadId = fixtures.uploads.running, createdAt = Date.now() } = fields;
		const call = seededCall(this.simulator.state.calls.size, createdAt);
		this.simulator.state.calls.set(callId, { ...call, callId, uploadId, finished: false });
		return callId;
	}

	/** Completes these contact lists, and waits until they aren't read anymore. */
	async finish(...uploadIds: number[]): Promise<void> {
		for (const id of uploadIds) this.simulator.completeUpload(id);
		await this.read(2);
		skipTime(HOUR_MS);
		await eventually(() => uploadIds.every((id) => this.finishedLists.includes(String(id))));
	}

	/** n8n stores them with the next execution. */
	private get finishedLists(): string[] {
		const data = this.workflow?.getStaticData('global')[`readCalls:${this.id}`];
		return Object.keys(z.object({ finished: z.record(z.unknown()) }).parse(data).finished);
	}

	/** Whether the list of the running contact list has these calls. The campaign counts them in any case. */
	showInList(callIds: readonly string[], isShown: boolean): void {
		const uploadId = isShown ? fixtures.uploads.running : null;
		for (const callId of callIds) {
			Object.assign(this.simulator.state.calls.get(callId) ?? {}, { uploadId });
		}
	}

	/** Whether the status of the campaign counts a call. */
	countInCampaign(callId: string, isCounted: boolean): void {
		const campaignId = isCounted ? CAMPAIGN : null;
		Object.assign(this.simulator.state.calls.get(callId) ?? {}, { campaignId });
	}

	async addEnded(fields: { uploadId?: number; createdAt?: number } = {}): Promise<string> {
		const callId = this.addCall(fields);
		await this.simulator.endCall(callId);
		return callId;
	}

	/** Each reading of a campaign begins with its status. */
	get readings(): number {
		return this.simulator.requests.filter(({ path }) => path.endsWith('/status')).length;
	}

	private async open(mode: WorkflowActivateMode): Promise<void> {
		const node = await this.node();
		const workflow = makeWorkflow([node]);
		workflow.overrideStaticData(structuredClone(this.stored));
		this.workflow = workflow;
		const activation = activate(this.harness.credentials, workflow, mode);
		const active = await activation.finally(() => this.store(workflow));
		this.active = active;
		active.failed.push = (...errors) => this.failed.push(...errors.map(({ message }) => message));
		active.ends.push = (...ends) => {
			for (const end of ends) {
				if (!this.isEnding) continue;
				if (this.isStarting) end.resolve(ENDED);
				else end.reject(new Error('the database is locked'));
			}
			return ends.length;
		};
		active.emitted.push = (...emissions) => {
			for (const { items, deduplicationKey = randomUUID() } of emissions) {
				this.emissions++;
				this.store(workflow);
				const call = items[0]?.[0]?.json ?? {};
				if (this.isStarting && !this.executions.has(deduplicationKey))
					this.executions.set(deduplicationKey, call);
			}
			return emissions.length;
		};
	}

	/** n8n stores static data after the activation, also if that fails, and with each emission. */
	private store(workflow: Workflow): void {
		if (workflow !== this.workflow) return;
		this.stored = z
			.record(z.custom<IDataObject>())
			.parse(JSON.parse(JSON.stringify(workflow.staticData)));
	}
}

/** A service with this dialect, and a trigger that reads its calls in each test. */
export function readingTests(harness: EngineHarness, dialect: Dialect) {
	let simulator: Simulator;
	let reading: ReadingHarness | undefined;

	beforeAll(async () => {
		simulator = await startSimulator({ dialect });
	});
	afterEach(async () => {
		jest.spyOn(clock, 'sleep').mockResolvedValue(undefined);
		await reading?.stop();
		jest.restoreAllMocks();
		reading = undefined;
		simulator.reset();
	});
	afterAll(async () => await simulator.stop());

	return {
		service: () => simulator,
		publish: async (parameters: IDataObject = {}): Promise<ReadingHarness> => {
			reading = await ReadingHarness.publish(harness, simulator, parameters);
			return reading;
		},
	};
}
