import type { ChatEvent } from '../../../../nodes/shared/chat/frames';
import { EventDispatcher } from '../../../../nodes/shared/chat/eventDispatcher';

const ignore = () => undefined;

test("the latest 5,000 events aren't delivered again", () => {
	const dispatcher = new EventDispatcher('session', { debug: ignore, info: ignore, warn: ignore });
	const delivered: ChatEvent[] = [];
	dispatcher.subscribe((event) => delivered.push(event));
	const deliver = (id: number) => {
		const event = { type: 'nudge_sent', eventId: String(id), payload: {}, envelope: {} };
		dispatcher.deliver(event, false);
	};
	for (let id = 0; id <= 5_000; id += 1) deliver(id);
	expect(delivered).toHaveLength(5_001);
	deliver(1);
	expect(delivered).toHaveLength(5_001);
	deliver(0);
	expect(delivered).toHaveLength(5_002);
});
