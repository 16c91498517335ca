import type { IDataObject, IPollFunctions } from 'n8n-workflow';
import type { JsonObject } from '../../json';

/**
 * What a poll trigger remembers between checks, in n8n's static data of the node. With durable cursors, n8n keeps what a
 * node writes there at publication only with an event. What it writes in the data of the workflow is kept. So until the
 * node's data are current, a state without events is stored in both.
 */
export class PollMemory {
	private readonly ofNode: IDataObject;
	private readonly ofWorkflow: IDataObject;
	private readonly key: string;
	private readonly before: unknown;
	private readonly isInNode: boolean;
	/** As it was when the check began. */
	readonly state: unknown;

	/** @param isCurrent whether a stored state is that of the campaign, credential, and start that the trigger has now */
	constructor(
		context: IPollFunctions,
		private readonly name: string,
		isCurrent: (stored: unknown) => boolean,
	) {
		this.ofNode = context.getWorkflowStaticData('node');
		this.ofWorkflow = context.getWorkflowStaticData('global');
		this.key = `${name} of ${context.getNode().id}`;
		this.before = this.ofNode[name];
		this.isInNode = isCurrent(this.before);
		const ofWorkflow = this.ofWorkflow[this.key];
		this.state = !this.isInNode && isCurrent(ofWorkflow) ? ofWorkflow : this.before;
	}

	/** Whether another check has stored its state since, because n8n doesn't wait for a slow one. */
	get isOutdated(): boolean {
		return this.ofNode[this.name] !== this.before;
	}

	store(state: JsonObject, hasEvents: boolean): void {
		this.ofNode[this.name] = state;
		if (!this.isInNode && !hasEvents) this.ofWorkflow[this.key] = state;
		else if (this.key in this.ofWorkflow) Reflect.deleteProperty(this.ofWorkflow, this.key);
	}
}
