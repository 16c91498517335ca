import type { ChatEvent } from '../../../../nodes/shared/chat/frames';
import { EventDispatcher } from '../../../../nodes/shared/chat/eventDispatcher';

const ignore = () => undefined;

test('five thousand events are known when they are replayed', () => {
	const inbox = new EventDispatcher('session', { debug: ignore, info: ignore, warn: ignore });
	const taken: ChatEvent[] = [];
	inbox.subscribe((event) => taken.push(event));
	const deliver = (id: number) => {
		inbox.deliver({ type: 'nudge_sent', eventId: String(id), payload: {}, envelope: {} });
	};
	for (let id = 0; id <= 5_000; id += 1) deliver(id);
	expect(taken).toHaveLength(5_001);
	deliver(1);
	expect(taken).toHaveLength(5_001);
	deliver(0);
	expect(taken).toHaveLength(5_002);
});
