import type { INodeExecutionData, IPollFunctions } from 'n8n-workflow';
import { InvalidInput } from '../../api/errors';
import { onScreenOnly } from '../../api/resolution';
import type { JsonObject } from '../../json';
import { asItems } from '../run/itemLoop';
import { toNodeError } from '../run/nodeErrors';

/** Runs `poll()` of a trigger. All its events start one execution. */
export async function runPoll(
	context: IPollFunctions,
	poll: (context: IPollFunctions) => Promise<JsonObject[]>,
): Promise<INodeExecutionData[][] | null> {
	try {
		if (context.getNode().executeOnce === true) {
			throw new InvalidInput(
				"'Execute Once' in the settings of this trigger must be off",
				onScreenOnly('Turn it off. With it, n8n drops all events of a check except the first one.'),
			);
		}
		const events = await poll(context);
		return events.length > 0 ? [asItems(events)] : null;
	} catch (error) {
		throw toNodeError(context.getNode(), error);
	}
}
