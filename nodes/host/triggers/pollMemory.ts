import isMatch from 'lodash/isMatch';
import type { IDataObject, IPollFunctions } from 'n8n-workflow';
import { fingerprint } from '../../core/values/hash';
import type { JsonObject } from '../../core/values/json';
import { clock } from '../clock';
import { nodeKey } from '../ledger/openStore';

/** By then, n8n has stored the state with the execution that it starts, or never does. */
const STORED_AFTER_MS = 60_000;

/** By trigger: the state with which its latest check began, and until when no other one begins with it. */
const latestChecks = new Map<string, { state: string; until: number }>();

/**
 * What a poll trigger remembers between checks, in n8n's static data of the node. With durable cursors, n8n keeps what a
 * node writes there at publication only with an event. What it writes in the data of the workflow is kept. So until the
 * node's data are current, a state without events is stored in both.
 */
export class PollMemory {
	private readonly ofNode: IDataObject;
	private readonly ofWorkflow: IDataObject;
	private readonly key: string;
	private readonly isInNode: boolean;
	private readonly trigger: string;
	private readonly stateHash: string;
	/** As it was when the check began. */
	readonly state: unknown;

	/** @param subject what a stored state must contain to be that of the campaign, credential, and start that the trigger has now */
	constructor(
		context: IPollFunctions,
		private readonly name: string,
		subject: JsonObject,
	) {
		this.ofNode = context.getWorkflowStaticData('node');
		this.ofWorkflow = context.getWorkflowStaticData('global');
		this.key = `${name} of ${context.getNode().id}`;
		const isCurrent = (stored: unknown) =>
			typeof stored === 'object' && stored !== null && isMatch(stored, subject);
		const before = this.ofNode[name];
		const ofWorkflow = this.ofWorkflow[this.key];
		this.isInNode = isCurrent(before);
		this.state = !this.isInNode && isCurrent(ofWorkflow) ? ofWorkflow : before;
		this.trigger = nodeKey(context);
		this.stateHash = fingerprint([subject, this.state ?? null]);
	}

	/**
	 * Runs a check, unless another one has begun with the same state. n8n runs several at the same time if one is slow, or
	 * after a restart those that were missed, and each would pass the same events.
	 */
	async exclusively(check: () => Promise<JsonObject[]>): Promise<JsonObject[]> {
		const { trigger, stateHash: state } = this;
		const latest = latestChecks.get(trigger);
		// With another state, n8n has stored that of the latest one.
		if (latest?.state === state && latest.until > clock.elapsed()) return [];
		const own = { state, until: Infinity };
		latestChecks.set(trigger, own);
		let events: JsonObject[] = [];
		try {
			events = await check();
		} finally {
			own.until = events.length > 0 ? clock.elapsed() + STORED_AFTER_MS : 0;
		}
		return events;
	}

	store(state: JsonObject, hasEvents: boolean): void {
		this.ofNode[this.name] = state;
		if (!this.isInNode && !hasEvents) this.ofWorkflow[this.key] = state;
		else if (this.key in this.ofWorkflow) Reflect.deleteProperty(this.ofWorkflow, this.key);
	}
}
