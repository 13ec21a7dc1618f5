# The commands of the README, in a fresh system: docker build -t sentprobe . && docker run --rm -it sentprobe
FROM python:3.12
WORKDIR /sentprobe
COPY . .
RUN pip install -c constraints.txt torch --index-url https://download.pytorch.org/whl/cpu
RUN pip install -c constraints.txt '.[probe]'
WORKDIR /work
RUN probe run compeval --task Order -e bow --train 1000 --test 400
CMD ["bash"]
