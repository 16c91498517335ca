import { istTimestamp } from '../clock';
import type { Simulator } from '../simulator';
import { newCall, type Call, type Campaign, type Upload } from '../state/state';
import { outcomeByNumber } from './outcome';

export interface AutoDial {
	/** Time between two calls of a campaign. */
	everyMs: number;
	/** Time until a call ends. */
	lastsMs: number;
}

/**
 * The calling engine: active campaigns call their released contacts one after another, each once. Calling days and call
 * windows don't apply, because the document doesn't show their fields.
 */
export class AutoDialer {
	private interval: NodeJS.Timeout | undefined;

	constructor(private readonly sim: Simulator) {}

	/** Null places no more calls. Calls in progress end anyway. */
	set(auto: AutoDial | null): void {
		clearInterval(this.interval);
		if (auto === null) return;
		this.interval = setInterval(() => {
			for (const campaign of this.sim.state.campaigns.values()) {
				if (campaign.status === 'Active') this.dialNext(campaign, auto);
			}
		}, auto.everyMs);
	}

	private dialNext(campaign: Campaign, auto: AutoDial): void {
		const next = campaign.contacts.find(({ enqueued, dialed }) => enqueued && dialed === null);
		const upload = campaign.uploads.find(({ id }) => id === next?.uploadId);
		if (next === undefined || upload === undefined) return;
		const { state, clock, completions } = this.sim;
		const { agentUuid } = upload;
		// Opt-outs apply to campaigns in flight.
		if (state.dndPhones(agentUuid).has(next.phone)) {
			next.dialed = 'do_not_disturb';
			this.completeIfDone(campaign, upload);
			return;
		}
		next.dialed = 'called';
		const call = newCall({
			agentUuid,
			phone: next.phone,
			fromNumber: state.agents.get(agentUuid)?.number ?? null,
			callerName: next.personName,
			campaignId: campaign.id,
			uploadId: upload.id,
			createdAt: istTimestamp(clock.now()),
		});
		state.calls.set(call.callId, call);
		const outcome = (one: Call) => outcomeByNumber(state, one);
		void completions
			.ring(call, auto.lastsMs, { outcome })
			.then(() => this.completeIfDone(campaign, upload));
	}

	/** The queue of a contact list is completed when its last call has ended. */
	private completeIfDone({ contacts }: Campaign, { id, queues }: Upload): void {
		const waits = contacts.some(
			({ uploadId, enqueued, dialed }) => uploadId === id && enqueued && dialed === null,
		);
		const calls = [...this.sim.state.calls.values()].filter(({ uploadId }) => uploadId === id);
		if (waits || calls.some(({ finished }) => !finished)) return;
		for (const queue of queues) queue.completed = true;
	}
}
