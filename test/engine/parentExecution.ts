import { WorkflowExecute } from 'n8n-core';
import {
	createRunExecutionData,
	type IExecutionContext,
	type INode,
	type INodeExecutionData,
	type IRun,
} from 'n8n-workflow';
import { makeAdditionalData, oneNodeWorkflow, runDataOf } from './engine';

let parents = 0;

/** An execution that runs sub-workflows, and its retries. */
export class ParentExecution {
	private readonly name = `parent ${++parents}`;
	private attempt = 1;

	/** @param startedAt epoch milliseconds */
	constructor(private readonly startedAt = Date.now()) {}

	/** *Retry* of the parent. n8n passes its start time on, and the parent runs its sub-workflows again. */
	retry(): void {
		this.attempt++;
	}

	/** Runs a sub-workflow that has this node. */
	async run(node: INode, input: INodeExecutionData[]): Promise<IRun> {
		const { workflow, start } = oneNodeWorkflow(node);
		const data = runDataOf(start, input);
		if (data.executionData === undefined) throw new Error('nothing to execute');
		data.executionData.runtimeData = {
			...this.context(),
			parentExecutionId: `${this.name} ${this.attempt}`,
		};
		const ofParent = createRunExecutionData({ executionData: { runtimeData: this.context() } });
		const additionalData = makeAdditionalData('integrated', {
			getRunExecutionData: async () => await Promise.resolve(ofParent),
		});
		const execution = new WorkflowExecute(additionalData, 'integrated', data);
		return await execution.processRunExecutionData(workflow);
	}

	private context(): IExecutionContext {
		return { version: 1, establishedAt: this.startedAt, source: 'trigger' };
	}
}
