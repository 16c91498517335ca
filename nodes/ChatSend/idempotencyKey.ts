import type { NodeParameters } from '../shared/n8n/nodeParameters';
import { fingerprint, requireText } from '../shared/chat/chatInput';

/** The key of one item, empty where none is wanted. It holds nothing of the run, so a re-run has the same. */
export function idempotencyKey(
	parameters: NodeParameters,
	index: number,
	sessionId: string,
	content: string[],
): string {
	const mode = parameters.value('idempotency', index);
	if (mode === 'own') {
		return requireText(parameters.value('idempotencyKey', index), 'Idempotency Key').trim();
	}
	if (mode !== 'derived') return '';
	const field = 'What Makes This Message Unique';
	const unique = requireText(parameters.value('uniqueBy', index), field);
	return fingerprint(sessionId, ...content, unique);
}
