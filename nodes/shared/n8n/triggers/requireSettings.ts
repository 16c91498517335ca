import type { INode } from 'n8n-workflow';
import { InvalidInput } from '../../api/errors';
import { onScreenOnly } from '../../api/resolution';

/** @throws InvalidInput if the trigger passes an empty item on for an event that starts nothing */
export function requireEmptyOutput({ alwaysOutputData }: INode): void {
	if (alwaysOutputData !== true) return;
	throw new InvalidInput(
		"'Always Output Data' in the settings of this trigger must be off",
		onScreenOnly(
			'Turn it off. With it, an event that repeats can start the workflow with an empty item.',
		),
	);
}

/** @throws InvalidInput if n8n drops all events of a poll but the first */
export function requireAllItems({ executeOnce }: INode): void {
	if (executeOnce !== true) return;
	throw new InvalidInput(
		"'Execute Once' in the settings of this trigger must be off",
		onScreenOnly('Turn it off. With it, n8n drops all events of a check except the first one.'),
	);
}
