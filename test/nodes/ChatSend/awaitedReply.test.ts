import type { AwaitedReply } from '../../../nodes/shared/chat/replyWatch';
import { withAwaitedReply } from '../../../nodes/ChatSend/awaitedReply';

test.each<[AwaitedReply['end'], string[]]>([
	['found', []],
	['time', ['timed_out']],
	['connection', ['connection_lost']],
	['stopped', ['execution_stopped']],
])('the item shows why the wait for the reply ended: %s', (end, shown) => {
	const reply = { reply: null, source: 'none', agentMessages: [], result: null, end } as const;
	const item = withAwaitedReply({}, { ...reply, agentMessages: [] });
	expect(Object.keys(item).filter((name) => item[name] === true)).toEqual(shown);
});
