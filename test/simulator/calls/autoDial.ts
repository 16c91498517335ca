import { randomUUID } from 'node:crypto';
import { istTimestamp } from '../clock';
import { newCall } from '../state/newCall';
import type { Call, Campaign, StoredContact, Upload } from '../state/types';
import type { SimulatorState } from '../world';
import type { CallOutcome } from './completions';
import { outcomeByNumber } from './outcomeByNumber';

export interface AutoDial {
	/** Time between two calls of a campaign. */
	everyMs: number;
	/** Time until a call ends. */
	lastsMs: number;
	/** By default, the last digit of the number decides. */
	outcome?: (call: Call) => CallOutcome;
}

/**
 * The calling engine: active campaigns call their released contacts one after another, each once. Calling days and call
 * windows don't apply, because the document doesn't show their fields.
 */
export class AutoDialer {
	private interval: NodeJS.Timeout | undefined;

	constructor(private readonly world: SimulatorState) {}

	/** Null places no more calls. Calls in progress end anyway. */
	set(auto: AutoDial | null): void {
		clearInterval(this.interval);
		if (auto === null) return;
		this.interval = setInterval(() => this.dialNext(auto), auto.everyMs);
	}

	reset(): void {
		this.set(null);
	}

	private dialNext(auto: AutoDial): void {
		for (const campaign of this.world.state.campaigns.values()) {
			if (campaign.status === 'Active') this.dialNextOf(campaign, auto);
		}
	}

	private dialNextOf(campaign: Campaign, auto: AutoDial): void {
		const next = campaign.contacts.find(({ enqueued, dialed }) => enqueued && dialed === null);
		const upload = campaign.uploads.find(({ id }) => id === next?.uploadId);
		if (next === undefined || upload === undefined) return;
		const { state } = this.world;
		// Opt-outs apply to campaigns in flight.
		if (state.dndPhones(upload.agentUuid).has(next.phone)) {
			next.dialed = 'do_not_disturb';
			this.completeIfDone(campaign, upload);
			return;
		}
		next.dialed = 'called';
		const call = this.callTo(campaign, upload, next);
		state.calls.set(call.callId, call);
		const outcome = auto.outcome ?? ((one: Call) => outcomeByNumber(state, one));
		void this.world.completions
			.ring(call, auto.lastsMs, { outcome })
			.then(() => this.completeIfDone(campaign, upload));
	}

	/** The queue of a contact list is completed when its last call has ended. */
	private completeIfDone({ contacts }: Campaign, { id, queues }: Upload): void {
		const waits = contacts.some(
			({ uploadId, enqueued, dialed }) => uploadId === id && enqueued && dialed === null,
		);
		const calls = [...this.world.state.calls.values()].filter(({ uploadId }) => uploadId === id);
		if (waits || calls.some(({ finished }) => !finished)) return;
		for (const queue of queues) queue.completed = true;
	}

	private callTo(campaign: Campaign, upload: Upload, { phone, personName }: StoredContact): Call {
		const { state, clock } = this.world;
		return newCall({
			callId: randomUUID(),
			agentUuid: upload.agentUuid,
			phone,
			fromNumber: state.agents.get(upload.agentUuid)?.number ?? null,
			callerName: personName,
			request: null,
			webhookUrl: null,
			campaignId: campaign.id,
			uploadId: upload.id,
			createdAt: istTimestamp(clock.now()),
			scheduledAt: null,
		});
	}
}
