import { delay } from '../clock';
import type { JsonObject } from '../json';
import type { Call, Delivery, TranscriptTurn } from '../state/types';
import type { SimulatorState } from '../world';
import { deliver } from './deliver';
import { usualOutcome, usualRecording, usualTranscript } from './outcome';
import { recordOf } from './record';

/** Record fields of the finished call, with its transcript and recording. `recording: true` creates a short file. */
export type CallOutcome = JsonObject & {
	transcript?: TranscriptTurn[];
	recording?: Buffer | boolean | null;
};

export interface DeliveryOptions {
	/** The number of deliveries of the webhook, one after another. */
	deliverTimes?: number;
	/** Whether all deliveries are at the same moment. */
	concurrently?: boolean;
	/** Record fields that are wrong in the payload, such as `call_id`. */
	forged?: JsonObject;
	/** The URL instead of the call's webhook_url. */
	url?: string;
}

export interface AutoComplete {
	/** Time after the call was placed. `beforeResponse`: the webhook arrives before the response to the request. */
	afterMs: number | 'beforeResponse';
	outcome?: CallOutcome | ((call: Call) => CallOutcome);
	delivery?: DeliveryOptions;
}

const LONGEST_TIMER_MS = 86_400_000;
/** The share of a call's time that it rings. */
const RINGING = 0.4;

export class Completions {
	private auto: AutoComplete | null = null;
	private readonly timers = new Set<NodeJS.Timeout>();
	/** Outcomes of the next calls that end automatically, instead of their own. */
	private readonly chosen: CallOutcome[] = [];

	constructor(private readonly world: SimulatorState) {}

	setAuto(auto: AutoComplete | null): void {
		this.auto = auto;
	}

	/** Chooses the outcome of the next call that is answered or not. */
	chooseNext(outcome: CallOutcome): void {
		this.chosen.push(outcome);
	}

	get chosenNext(): readonly CallOutcome[] {
		return this.chosen;
	}

	clearChosen(): void {
		this.chosen.length = 0;
	}

	/** Finishes a call and delivers its webhook. Resolves when all deliveries have a response. */
	async complete(
		callId: string,
		given: CallOutcome = {},
		options: DeliveryOptions = {},
	): Promise<Delivery[]> {
		const call = this.known(callId);
		const { transcript, recording, ...fields } = given;
		const { state, dialect, clock } = this.world;
		const agent = state.agents.get(call.agentUuid);
		call.outcome = { ...usualOutcome(call, agent, clock.now()), ...fields };
		const picked = call.outcome.status === 'picked';
		call.transcript = transcript ?? (picked ? usualTranscript(dialect, clock.now()) : []);
		call.recording = recordingOf(recording ?? picked);
		call.finished = true;
		call.isTalking = false;
		return await this.deliver(call, options);
	}

	/** Delivers the webhook of a call in its current state. */
	async deliverWebhook(callId: string, options: DeliveryOptions = {}): Promise<Delivery[]> {
		return await this.deliver(this.known(callId), options);
	}

	/** Call this before the response to the request that placed the call. */
	async placed(call: Call): Promise<void> {
		const auto = this.auto;
		if (!auto || !call.dialed) return;
		if (auto.afterMs === 'beforeResponse') {
			await this.complete(call.callId, this.outcomeOf(call, auto), auto.delivery);
			return;
		}
		const due = Math.max(0, (call.scheduledAt ?? 0) - this.world.clock.now());
		if (due + auto.afterMs > LONGEST_TIMER_MS) return;
		const { afterMs } = auto;
		void this.wait(due).then(async () => await this.ring(call, afterMs, auto));
	}

	/** The call rings, the person talks if the outcome says so, and the call ends. */
	async ring(call: Call, lastsMs: number, auto: Omit<AutoComplete, 'afterMs'>): Promise<void> {
		await this.wait(RINGING * lastsMs);
		if (!this.isInProgress(call)) return;
		const outcome = this.outcomeOf(call, auto);
		call.isTalking = (outcome.status ?? 'picked') === 'picked';
		await this.wait((1 - RINGING) * lastsMs);
		if (this.isInProgress(call)) await this.complete(call.callId, outcome, auto.delivery);
	}

	reset(): void {
		this.auto = null;
		this.chosen.length = 0;
		for (const timer of this.timers) clearTimeout(timer);
		this.timers.clear();
	}

	/** Never resolves if the simulator is reset. */
	private async wait(ms: number): Promise<void> {
		await new Promise<void>((resolve) => {
			const timer = setTimeout(() => {
				this.timers.delete(timer);
				resolve();
			}, ms);
			this.timers.add(timer);
		});
	}

	private outcomeOf(call: Call, { outcome }: Omit<AutoComplete, 'afterMs'>): CallOutcome {
		return this.chosen.shift() ?? (typeof outcome === 'function' ? outcome(call) : (outcome ?? {}));
	}

	private isInProgress({ callId, finished }: Call): boolean {
		return !finished && this.world.state.calls.has(callId);
	}

	private known(callId: string): Call {
		const call = this.world.state.calls.get(callId);
		if (!call) throw new Error(`The simulator has no call ${callId}`);
		return call;
	}

	private async deliver(call: Call, options: DeliveryOptions): Promise<Delivery[]> {
		const url = options.url ?? call.webhookUrl;
		if (url === null) return [];
		const { dialect, state } = this.world;
		const record = recordOf(call, state.agents.get(call.agentUuid), dialect);
		const payload: JsonObject = { ...record, ...options.forged };
		const body = dialect.webhook.body(String(payload.call_id), payload);
		const once = async () => await deliver(url, body, dialect, call.deliveries);
		const times = options.deliverTimes ?? 1;
		if (options.concurrently === true)
			return await Promise.all(Array.from({ length: times }, once));
		const deliveries: Delivery[] = [];
		for (let i = 0; i < times; i++) {
			deliveries.push(await once());
			await delay(0);
		}
		return deliveries;
	}
}

function recordingOf(recording: Buffer | boolean | null): Buffer | null {
	if (recording === null || recording === false) return null;
	return recording === true ? usualRecording() : recording;
}
