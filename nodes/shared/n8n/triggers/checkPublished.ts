import type { IHookFunctions, INodeProperties } from 'n8n-workflow';
import { InvalidInput } from '../../api/errors';
import { onScreenOnly } from '../../api/resolution';
import type { Fields } from '../forms/fields';
import { formOf } from '../forms/nodeParameters';
import { toNodeError } from '../run/nodeErrors';

/** Stops a workflow from being published with a field or a setting of its webhook trigger that can't be used. */
export function checkPublished(
	context: IHookFunctions,
	properties: readonly INodeProperties[],
	readFields: (form: Fields) => void,
): void {
	try {
		readFields(formOf(context, properties));
		if (context.getNode().alwaysOutputData !== true) return;
		throw new InvalidInput(
			"'Always Output Data' in the settings of this trigger must be off",
			onScreenOnly(
				'Turn it off. With it, an event that repeats can start the workflow with an empty item.',
			),
		);
	} catch (error) {
		throw toNodeError(context.getNode(), error);
	}
}
