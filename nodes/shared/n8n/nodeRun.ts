import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { forgetRun } from './executionMemory';
import { answerModel } from './toolAnswer';
import { runsAsTool } from './toolRun';

/** The run of every action node: what holds for all of them, whoever asked for it. */
export async function runNode(
	context: IExecuteFunctions,
	run: () => Promise<INodeExecutionData[][]>,
): Promise<INodeExecutionData[][]> {
	if (runsAsTool(context)) return await answerModel(context, run);
	const outputs = await run();
	if (context.getExecutionCancelSignal()?.aborted !== true && !mayBeRunAgain(outputs)) {
		forgetRun(context);
	}
	return outputs;
}

/** *Retry On Fail* also runs a node again that handed its errors on; to older versions of n8n `null` is one too. */
function mayBeRunAgain(outputs: INodeExecutionData[][]): boolean {
	return outputs.flat().some(({ json }) => json.error !== undefined);
}
