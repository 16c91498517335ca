import type { IDataObject, IPollFunctions } from 'n8n-workflow';
import type { JsonObject } from '../../json';

/**
 * What a poll trigger remembers between checks, in n8n's static data of the node. With durable cursors, n8n doesn't keep what
 * a node writes there at publication, only what it writes in the data of the workflow. So a first reading is stored in
 * both.
 */
export class PollMemory {
	private readonly ofNode: IDataObject;
	private readonly ofWorkflow: IDataObject;
	private readonly key: string;
	/** As it was when the check began. */
	readonly state: unknown;

	constructor(
		context: IPollFunctions,
		private readonly name: string,
	) {
		this.ofNode = context.getWorkflowStaticData('node');
		this.ofWorkflow = context.getWorkflowStaticData('global');
		this.key = `${name} of ${context.getNode().id}`;
		this.state = this.ofNode[name] ?? this.ofWorkflow[this.key];
	}

	/** Whether another check has stored its state since, because n8n doesn't wait for a slow one. */
	get isOutdated(): boolean {
		return this.ofNode[this.name] !== undefined && this.ofNode[this.name] !== this.state;
	}

	store(state: JsonObject): void {
		const isFirst = this.ofNode[this.name] === undefined;
		this.ofNode[this.name] = state;
		if (isFirst) this.ofWorkflow[this.key] = state;
		else if (this.key in this.ofWorkflow) Reflect.deleteProperty(this.ofWorkflow, this.key);
	}
}
