import { NodeOperationError, type IExecuteFunctions, type IWebhookFunctions } from 'n8n-workflow';
import { runsAsTool } from '../../shared/n8n/toolRun';
import { pingResumeUrl } from './pingResumeUrl';

/** What n8n answers at the address of an execution that runs; 500 where a person started it in the editor. */
const NOT_ASLEEP = [409, 500];

/** The address that wakes this execution; its query holds n8n's own token for it. */
export function resumeAddress(context: IExecuteFunctions | IWebhookFunctions): string {
	const resumeUrl: unknown = context.evaluateExpression('{{ $execution.resumeUrl }}', 0);
	const url = new URL(typeof resumeUrl === 'string' ? resumeUrl : '');
	// The node's ID at the end of the path is what n8n finds the webhook by.
	url.pathname = `${url.pathname}/${context.getNode().id}`;
	return url.toString();
}

/**
 * A call that is over before the execution sleeps is only found by knocking at this address, so
 * nobody is called where that is impossible.
 */
export async function requireWayBack(context: IExecuteFunctions, address: string): Promise<void> {
	if (runsAsTool(context)) {
		throw new NodeOperationError(
			context.getNode(),
			'A tool of an AI agent cannot sleep, so no call was placed',
			{
				description: 'Set Wait for Completion to By Reading the Call, or to Off.',
			},
		);
	}
	if (NOT_ASLEEP.includes(await pingResumeUrl(context, address, 'GET'))) return;
	throw new NodeOperationError(
		context.getNode(),
		'n8n does not reach its own webhook address, so no call was placed',
		{
			description: `The address begins with ${new URL(address).origin}. Ask whoever runs your n8n to make it reachable from n8n itself and from the service (setting WEBHOOK_URL), or set Wait for Completion to By Reading the Call.`,
		},
	);
}
