import type { JsonObject } from '../json';
import type { Simulator } from '../simulator';
import type { Call, Delivery, TranscriptTurn } from '../state/state';
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

/** How calls end, and the webhooks that report it. */
export class Completions {
	private auto: AutoComplete | null = null;
	private readonly timers = new Set<NodeJS.Timeout>();
	/** Outcomes of the next calls that end automatically, instead of their own. */
	readonly chosenNext: CallOutcome[] = [];

	constructor(private readonly sim: Simulator) {}

	setAuto(auto: AutoComplete | null): void {
		this.auto = auto;
	}

	/** Finishes a call and delivers its webhook. Resolves when all deliveries have a response. */
	async complete(
		callId: string,
		given: CallOutcome = {},
		options: DeliveryOptions = {},
	): Promise<Delivery[]> {
		const call = this.known(callId);
		const { transcript, recording, ...fields } = given;
		const { state, clock } = this.sim;
		const agent = state.agents.get(call.agentUuid);
		call.outcome = { ...usualOutcome(call, agent, clock.now()), ...fields };
		const picked = call.outcome.status === 'picked';
		const file = recording ?? picked;
		call.transcript = transcript ?? (picked ? usualTranscript(clock.now()) : []);
		call.recording = file === true ? usualRecording() : file || null;
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
		const { afterMs } = auto;
		if (afterMs === 'beforeResponse') {
			await this.complete(call.callId, this.outcomeOf(call, auto), auto.delivery);
			return;
		}
		const due = Math.max(0, (call.scheduledAt ?? 0) - this.sim.clock.now());
		if (due + afterMs > LONGEST_TIMER_MS) return;
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
		this.chosenNext.length = 0;
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
		const own = typeof outcome === 'function' ? outcome(call) : (outcome ?? {});
		return this.chosenNext.shift() ?? own;
	}

	private isInProgress({ callId, finished }: Call): boolean {
		return !finished && this.sim.state.calls.has(callId);
	}

	private known(callId: string): Call {
		const call = this.sim.state.calls.get(callId);
		if (!call) throw new Error(`The simulator has no call ${callId}`);
		return call;
	}

	private async deliver(call: Call, options: DeliveryOptions): Promise<Delivery[]> {
		const { url = call.webhookUrl, deliverTimes = 1, concurrently = false } = options;
		if (url === null) return [];
		const { webhook } = this.sim.dialect;
		const payload = { ...recordOf(call, this.sim), ...options.forged };
		const body = webhook.body(String(payload.call_id), payload);
		const deliveries: Array<Promise<Delivery>> = [];
		for (let i = 0; i < deliverTimes; i++) {
			const delivery: Delivery = { url, at: Date.now(), status: null, body };
			call.deliveries.push(delivery);
			deliveries.push(this.post(delivery));
			if (!concurrently) await deliveries[i];
		}
		return await Promise.all(deliveries);
	}

	private async post(delivery: Delivery): Promise<Delivery> {
		const text = JSON.stringify(delivery.body);
		try {
			const response = await fetch(delivery.url, {
				method: 'POST',
				headers: this.sim.dialect.webhook.headers(text),
				body: text,
				redirect: 'manual',
				signal: AbortSignal.timeout(10_000),
			});
			await response.arrayBuffer();
			delivery.status = response.status;
		} catch {
			// No response: the status stays null.
		}
		return delivery;
	}
}
