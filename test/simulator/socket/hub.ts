import type { World } from '../world';

export class SocketHub {
	constructor(readonly world: World) {}
	reset(): void {}
}
